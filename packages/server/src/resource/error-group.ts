import type { Resource } from './resource.ts'

/** The group under which errors name the kind of a resource; the resource itself has its own. */
export function errorGroupOf(resource: Resource): string {
  return resource.errorGroup ?? resource.kind.group
}
