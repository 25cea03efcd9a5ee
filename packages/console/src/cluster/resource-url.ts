import type { ObjectName, ResourceName } from '../wire/names.ts'

/** The path of a collection: in one namespace, or without one in the whole cluster. */
export function collectionPath({ group, version, plural }: ResourceName, namespace?: string): string {
  const root = group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`
  const scope = namespace === undefined || namespace === '' ? '' : `/namespaces/${segment(namespace)}`
  return `${root}${scope}/${segment(plural)}`
}

/** The path of an object or of one of its subresources. */
export function objectPath({ resource, namespace, name }: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, namespace)}/${segment(name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** Encodes a path segment. Throws for a name that would select another path. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('%'))
    throw new TypeError(`"${name}" cannot be part of a path: use the name of a resource, namespace or object`)
  return encodeURIComponent(name)
}
