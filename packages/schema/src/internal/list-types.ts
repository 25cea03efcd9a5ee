import { duplicate, type FieldError, invalid } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { goJson } from '../go-format.ts'
import { isObject, type JsonObject, type StructuralNode } from './structural-node.ts'

/**
 * Checks that lists of type `set` and `map` hold no item or key twice.
 *
 * As in apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go: of each repeated item only the second appearance is
 * reported.
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
    // Compounds are compared by their JSON; the prefix keeps them apart from strings.
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
    if (list[i] !== null && !isObject(list[i])) {
      errors.push(invalid(path.index(i), list[i], 'must be an object for an array of list-type map'))
      return
    }
  }
  if (list.length <= 1) return
  const single = keyNames.length === 1 ? keyNames[0] : undefined
  if (single !== undefined) {
    const keys = list.map((item) => (isObject(item) && Object.hasOwn(item, single) ? item[single] : UNSPECIFIED))
    reportDuplicates(keys, (i) => (keys[i] === UNSPECIFIED ? {} : { [single]: keys[i] }), path, errors)
    return
  }
  const keys = list.map((item) => {
    const key: JsonObject = {}
    for (const name of keyNames) if (isObject(item) && Object.hasOwn(item, name)) key[name] = item[name]
    return key
  })
  reportDuplicates(keys, (i) => keys[i], path, errors)
}

/** The key of an item that lacks the key field; differs from every JSON value. */
const UNSPECIFIED: unique symbol = Symbol('unspecified key')
