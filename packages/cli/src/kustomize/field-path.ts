import { isJsonObject } from '@kubewright/base'
import type { MutableObject } from './resource-entry.ts'

/**
 * Calls a function with the holder of each field at a path such as `spec/containers/image`. Lists on the way are entered item by item. With
 * `create`, missing objects on the way are created.
 */
export function visitFields(
  object: MutableObject,
  path: string,
  visit: (holder: MutableObject, field: string) => void,
  create = false,
): void {
  walk(object, path.split('/'), visit, create)
}

function walk(
  value: unknown,
  path: readonly string[],
  visit: (holder: MutableObject, field: string) => void,
  create: boolean,
): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, path, visit, create)
    return
  }
  if (!isJsonObject(value)) return
  const holder = value as MutableObject
  const [part = '', ...rest] = path
  const field = part.replace(/\[\]$/, '')
  if (rest.length === 0) {
    if (create || Object.hasOwn(holder, field)) visit(holder, field)
    return
  }
  if (create && holder[field] === undefined && !part.endsWith('[]')) holder[field] = {}
  walk(holder[field], rest, visit, create)
}
