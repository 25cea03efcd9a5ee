import { isJsonObject } from '@kubewright/base'
import { duplicate, type FieldError, invalid } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { goJson } from '../field/go-format.ts'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'

/** Reports whether {@link checkListTypes} would report errors. Allocates nothing for lists of common sizes. */
export function hasListTypeErrors(value: unknown, node: StructuralNode): boolean {
  if (typeof value !== 'object' || value === null || !node.has('listTypes')) return false
  if (Array.isArray(value)) {
    if (node.listType === 'set' && mayRepeat(value, undefined)) return true
    if (node.listType === 'map' && mayRepeat(value, node.listMapKeys)) return true
    const items = node.items
    if (items?.has('listTypes') !== true) return false
    for (let i = 0; i < value.length; i++) if (hasListTypeErrors(value[i], items)) return true
    return false
  }
  const properties = node.properties
  for (const name in value) {
    const field = properties?.get(name) ?? node.additional
    if (field !== undefined && hasListTypeErrors((value as JsonObject)[name], field)) return true
  }
  return false
}

/** The number of items up to which pairwise comparison is cheaper than a hash table. */
const PAIRWISE_LIMIT = 64

/** Returns false only if no two items, or keys of items, are equal. */
function mayRepeat(list: readonly unknown[], keyNames: readonly string[] | undefined): boolean {
  if (list.length > PAIRWISE_LIMIT) return true
  for (let i = 0; i < list.length; i++) {
    if (keyNames !== undefined && !isJsonObject(list[i])) return true
    for (let j = 0; j < i; j++) {
      if (keyNames === undefined ? !differs(list[i], list[j]) : !keysDiffer(list[i], list[j], keyNames)) return true
    }
  }
  return false
}

function keysDiffer(a: unknown, b: unknown, keyNames: readonly string[]): boolean {
  for (let k = 0; k < keyNames.length; k++) {
    const name = keyNames[k] as string
    if (differs((a as JsonObject)[name], (b as JsonObject)[name])) return true
  }
  return false
}

/** Reports whether two values are certainly different: at least one is a scalar, and they are not identical. */
function differs(a: unknown, b: unknown): boolean {
  return a !== b && (typeof a !== 'object' || typeof b !== 'object')
}

/**
 * Checks that lists of type `set` and `map` contain no duplicate items or keys.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go: for each duplicate, only the second
 * occurrence is reported.
 */
export function checkListTypes(value: unknown, node: StructuralNode, path: FieldPath, errors: FieldError[]): void {
  if (typeof value !== 'object' || value === null || !node.has('listTypes')) return
  if (Array.isArray(value)) {
    if (node.listType === 'set') reportDuplicates(value, (i) => value[i], path, errors)
    else if (node.listType === 'map') checkMapList(value, node.listMapKeys, path, errors)
    const items = node.items
    if (items?.has('listTypes') !== true) return
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] === 'object') checkListTypes(value[i], items, path.index(i), errors)
    }
    return
  }
  checkFields(value as JsonObject, node, path, errors)
}

function checkFields(object: JsonObject, node: StructuralNode, path: FieldPath, errors: FieldError[]): void {
  const additional = node.additional
  const properties = node.properties
  for (const name in object) {
    const value = object[name]
    if (typeof value !== 'object') continue
    if (additional?.has('listTypes') === true) checkListTypes(value, additional, path.key(name), errors)
    const property = properties?.get(name)
    if (property?.has('listTypes') === true) checkListTypes(value, property, path.child(name), errors)
  }
}

function reportDuplicates(
  list: readonly unknown[],
  shown: (index: number) => unknown,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (list.length <= 1) return
  const seen = new Map<unknown, number>()
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    // Objects and arrays are compared by their JSON. The prefix distinguishes them from strings.
    const key = typeof item === 'object' && item !== null ? `\0${goJson(item)}` : item
    const times = seen.get(key) ?? 0
    seen.set(key, times + 1)
    if (times === 1) errors.push(duplicate(path.index(i), shown(i)))
  }
}

function checkMapList(
  list: readonly unknown[],
  keyNames: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  for (let i = 0; i < list.length; i++) {
    if (list[i] !== null && !isJsonObject(list[i])) {
      errors.push(invalid(path.index(i), list[i], 'must be an object for an array of list-type map'))
      return
    }
  }
  if (list.length <= 1) return
  const single = keyNames.length === 1 ? keyNames[0] : undefined
  if (single !== undefined) {
    const keys = list.map((item) => (isJsonObject(item) && Object.hasOwn(item, single) ? item[single] : UNSPECIFIED))
    reportDuplicates(keys, (i) => (keys[i] === UNSPECIFIED ? {} : { [single]: keys[i] }), path, errors)
    return
  }
  const keys = list.map((item) => {
    const key: JsonObject = {}
    for (const name of keyNames) if (isJsonObject(item) && Object.hasOwn(item, name)) key[name] = item[name]
    return key
  })
  reportDuplicates(keys, (i) => keys[i], path, errors)
}

/** The key of an item without the key field. It differs from every JSON value. */
const UNSPECIFIED: unique symbol = Symbol('unspecified key')
