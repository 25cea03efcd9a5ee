import type { Resource } from './resource.ts'

/** The group under which errors name a resource and its kind. */
export function errorGroupOf(resource: Resource): string {
  return resource.errorGroup ?? resource.kind.group
}
