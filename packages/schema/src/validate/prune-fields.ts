import { compareUtf8 } from '@kubewright/base'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'

/**
 * The position of the pruner and the fields it dropped. Paths are built only for dropped fields, so a clean object
 * costs nothing.
 */
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

/** Removes unspecified fields in place. */
export function pruneFields(value: unknown, node: StructuralNode | undefined): void {
  prune(value, node, undefined)
}

/** Like {@link pruneFields}, but returns the removed fields as sorted paths (`spec.list[0].x`). */
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
      // Type and object metadata at the root are implied, so dropping them is not reported.
      if (unknown !== undefined && (!isMetaField(name) || unknown.segments.length > 0)) unknown.record(name)
      delete object[name]
    }
  }
}

/**
 * Handles values below x-kubernetes-preserve-unknown-fields: unknown fields stay, but fields with a schema are pruned
 * by it.
 */
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
