import { compareUtf8 } from '../go-format.ts'
import type { JsonObject, StructuralNode } from './structural-node.ts'

/** Where the pruner is and what it dropped; text is made only for what is dropped, so a clean object costs nothing. */
class UnknownFields {
  readonly paths: string[] = []
  readonly segments: (string | number)[] = []

  record(name: string): void {
    let path = ''
    for (const segment of this.segments) {
      if (typeof segment === 'number') path += `[${segment}]`
      else path += path === '' ? segment : `.${segment}`
    }
    this.paths.push(path === '' ? name : `${path}.${name}`)
  }
}

/** Removes, in place, every field that the schema does not specify. */
export function pruneFields(value: unknown, node: StructuralNode | undefined): void {
  prune(value, node, undefined)
}

/** As {@link pruneFields}, and says which fields it removed, as sorted paths (`spec.list[0].x`). */
export function pruneAndReport(value: unknown, node: StructuralNode | undefined): string[] {
  const unknown = new UnknownFields()
  prune(value, node, unknown)
  return unknown.paths.sort(compareUtf8)
}

function isMetaField(name: string): boolean {
  return name === 'metadata' || name === 'kind' || name === 'apiVersion'
}

function prune(value: unknown, node: StructuralNode | undefined, unknown: UnknownFields | undefined): void {
  if (typeof value !== 'object' || value === null) return
  if (node?.preserveUnknown === true) {
    keepUnknown(value, node, unknown)
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'object') continue
      unknown?.segments.push(i)
      prune(value[i], node?.items, unknown)
      unknown?.segments.pop()
    }
  } else {
    pruneObject(value as JsonObject, node, unknown)
  }
}

function pruneObject(object: JsonObject, node: StructuralNode | undefined, unknown: UnknownFields | undefined): void {
  if (node === undefined) {
    for (const name in object) {
      unknown?.record(name)
      delete object[name]
    }
    return
  }
  const properties = node.properties
  for (const name in object) {
    if (node.embedded && isMetaField(name)) continue
    const property = properties?.get(name)
    if (property !== undefined || node.hasAdditional) {
      const child = object[name]
      if (typeof child !== 'object' || child === null) continue
      unknown?.segments.push(name)
      prune(child, property ?? node.additional, unknown)
      unknown?.segments.pop()
    } else {
      // Type and object metadata at the very root are implied, so they are dropped without a word.
      if (unknown !== undefined && (!isMetaField(name) || unknown.segments.length > 0)) unknown.record(name)
      delete object[name]
    }
  }
}

/** Below x-kubernetes-preserve-unknown-fields: fields stay, but those that have a schema are pruned by it again. */
function keepUnknown(value: object, node: StructuralNode, unknown: UnknownFields | undefined): void {
  if (Array.isArray(value)) {
    const items = node.items
    if (items === undefined) return
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] !== 'object' || value[i] === null) continue
      unknown?.segments.push(i)
      keepUnknown(value[i], items, unknown)
      unknown?.segments.pop()
    }
    return
  }
  const object = value as JsonObject
  const properties = node.properties
  for (const name in object) {
    if (node.embedded && isMetaField(name)) continue
    const property = properties?.get(name)
    if (property === undefined && !node.hasAdditional) continue
    unknown?.segments.push(name)
    prune(object[name], property ?? node.additional, unknown)
    unknown?.segments.pop()
  }
}
