import { deepEqual, isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { goValue } from '@kubewright/schema'
import { getOwn, type JsonObject } from '../../own-property.ts'
import { patchDirective, retainKeysDirective } from './directives.ts'
import { elementType, isMapType, mergeKeyOf } from './element-order.ts'
import { listMeta, type PatchMeta, structMeta } from './patch-meta.ts'

/** True when two strategic merge patches set the same field to different values. */
export function patchesConflict(left: JsonObject, right: JsonObject, schema: JSONSchemaProps): boolean {
  return mapsConflict(left, right, schema, '')
}

function mapsConflict(left: JsonObject, right: JsonObject, schema: JSONSchemaProps, strategy: string): boolean {
  // One patch replaces or deletes the whole object and the other does something else to it.
  if (getOwn(left, patchDirective) !== getOwn(right, patchDirective)) return true
  if (strategy === 'replace') return false
  return Object.keys(left).some((key) => {
    if (key === patchDirective || key === retainKeysDirective || !Object.hasOwn(right, key)) return false
    return fieldsConflict(key, left[key], right[key], schema)
  })
}

function fieldsConflict(key: string, left: unknown, right: unknown, schema: JSONSchemaProps): boolean {
  if (isJsonObject(left)) {
    if (!isJsonObject(right)) return true
    const meta = structMeta(schema, key)
    return mapsConflict(left, right, meta.schema, meta.strategy)
  }
  if (Array.isArray(left)) {
    // A parallel list has the name of a directive. Equal orders or equal deletions do not conflict.
    if (!Array.isArray(right) || key.startsWith('$')) return !deepEqual(left, right)
    return listsConflict(left, right, listMeta(schema, key))
  }
  return !deepEqual(left, right)
}

function listsConflict(left: readonly unknown[], right: readonly unknown[], meta: PatchMeta): boolean {
  const maps = isMapType(elementType(left, right))
  if (meta.strategy !== 'merge') return !deepEqual(left, right)
  // Merging lists of scalars only adds items, so it cannot conflict.
  if (!maps) return false
  const others = new Map(right.map((item) => [goValue(mergeKeyOf(item, meta.mergeKey)), item as JsonObject]))
  return left.some((item) => {
    const other = others.get(goValue(mergeKeyOf(item, meta.mergeKey)))
    return other !== undefined && mapsConflict(item as JsonObject, other, meta.schema, '')
  })
}
