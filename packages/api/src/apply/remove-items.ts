import { isJsonObject } from '@kubewright/base'
import type { FieldSet } from '../fieldset/field-set.ts'
import { emptyTree, type SetNode, type SetTree } from '../fieldset/set-tree.ts'
import { type JsonObject, setOwn } from '../own-property.ts'
import { knownItemElement } from './list-item-element.ts'
import type { ListType, MapType, TypeNode } from './type-node.ts'

/**
 * Removes the fields and items of the set from the value. As in structured-merge-diff, a map or list that loses all its
 * contents, or that is empty where the set has paths below it, becomes null. Shares unchanged parts with the value.
 */
export function removeItems(type: TypeNode, value: unknown, set: FieldSet): unknown {
  return set.isEmpty ? value : remove(type, value, set.tree)
}

function remove(type: TypeNode, value: unknown, tree: SetTree): unknown {
  if (Array.isArray(value)) {
    if (type.list) return removeFromList(type.list, value, tree)
    return type.map ? null : type.scalar ? value : null
  }
  if (isJsonObject(value)) {
    if (type.map) return removeFromMap(type.map, value, tree)
    return type.scalar ? value : null
  }
  if (value !== null && type.scalar) return value
  return type.map || !type.scalar ? null : value
}

function removeFromMap(type: MapType, map: JsonObject, tree: SetTree): JsonObject | null {
  if (type.atomic) return null
  let out: Record<string, unknown> | undefined
  let left = 0
  for (const key in map) {
    left++
    const field = type.field(key)
    const node = tree.get(field ? field.element : `f:${key}`)
    if (node === undefined) continue
    if (node.member) {
      out ??= { ...map }
      delete out[key]
      left--
      continue
    }
    const fieldType = field ? field.type : type.elementType
    const kept = fieldType ? remove(fieldType, map[key], node.children as SetTree) : map[key]
    if (kept === map[key]) continue
    out ??= { ...map }
    setOwn(out, key, kept)
  }
  return left === 0 ? null : (out ?? map)
}

function removeFromList(type: ListType, list: readonly unknown[], tree: SetTree): readonly unknown[] | null {
  if (list.length === 0 || type.atomic) return null
  let out: unknown[] | undefined
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    const element = knownItemElement(type, item)
    const node: SetNode | undefined = element === undefined ? undefined : tree.get(element)
    if (node === undefined) {
      out?.push(item)
      continue
    }
    if (node.member) {
      out ??= list.slice(0, i)
      continue
    }
    const kept = remove(type.elementType, item, node.children as SetTree)
    if (kept !== item) out ??= list.slice(0, i)
    out?.push(kept)
  }
  if (out === undefined) return list
  return out.length === 0 ? null : out
}

/**
 * Reduces the value to the fields and items of the set, that is, to what its owner applied. Keys of list items are
 * included, so that the result can be applied again.
 */
export function extractItems(type: TypeNode, value: unknown, set: FieldSet): unknown {
  return extract(type, value, set.tree)
}

function extract(type: TypeNode, value: unknown, tree: SetTree): unknown {
  if (Array.isArray(value) && type.list) {
    if (type.list.atomic) return value
    return extractFromList(type.list, value, tree)
  }
  if (isJsonObject(value) && type.map) {
    if (type.map.atomic) return value
    return extractFromMap(type.map, value, tree)
  }
  return value
}

function extractFromMap(type: MapType, map: JsonObject, tree: SetTree): JsonObject | null {
  const out: Record<string, unknown> = {}
  let size = 0
  for (const key in map) {
    const field = type.field(key)
    const node = tree.get(field ? field.element : `f:${key}`)
    if (node === undefined) continue
    const fieldType = field ? field.type : type.elementType
    setOwn(out, key, fieldType ? extractOwned(fieldType, map[key], node) : map[key])
    size++
  }
  return size === 0 ? null : out
}

/** A map or list that is owned without any contents was applied empty. */
function extractOwned(type: TypeNode, value: unknown, node: SetNode): unknown {
  const kept = extract(type, value, node.children ?? emptyTree)
  return kept === null && value !== null ? (Array.isArray(value) ? [] : {}) : kept
}

function extractFromList(type: ListType, list: readonly unknown[], tree: SetTree): readonly unknown[] | null {
  const out: unknown[] = []
  for (const item of list) {
    const element = knownItemElement(type, item)
    const node = element === undefined ? undefined : tree.get(element)
    if (node === undefined) continue
    if (!isJsonObject(item)) {
      out.push(item)
      continue
    }
    const keys: Record<string, unknown> = {}
    for (const key of type.keys) if (Object.hasOwn(item, key)) setOwn(keys, key, item[key])
    const kept = extract(type.elementType, item, node.children ?? emptyTree)
    out.push(isJsonObject(kept) ? { ...keys, ...kept } : keys)
  }
  return out.length === 0 ? null : out
}
