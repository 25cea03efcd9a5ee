import { isJsonObject } from '@kubewright/base'
import { FieldSet } from '../fieldset/field-set.ts'
import { addChildren, addMember, leaf, type MutableSetTree, nodeOf, type SetTree } from '../fieldset/set-tree.ts'
import { knownItemElement } from './list-item-element.ts'
import type { ListType, MapType, TypeNode } from './type-node.ts'

/**
 * The fields that a value sets, which its applier will own. Leaves, items of associative lists and keys of maps are
 * members themselves; a struct is owned only through its fields.
 */
export function fieldSetOf(type: TypeNode, value: unknown): FieldSet {
  const result = walk(type, value)
  return FieldSet.fromTree(result === 'self' || result === undefined ? new Map() : result)
}

/** The members below the value; `self` when the value is a leaf and a member itself. */
type Owned = SetTree | 'self' | undefined

function walk(type: TypeNode, value: unknown): Owned {
  if (Array.isArray(value)) {
    if (type.list) return walkList(type.list, value)
  } else if (isJsonObject(value)) {
    if (type.map) return walkMap(type.map, value)
  } else if (value !== null && type.scalar) {
    return 'self'
  }
  // Only null and values that do not match the type get here. As in Kubernetes, map takes precedence where several
  // forms are possible.
  if (type.map) return type.map.atomic ? 'self' : undefined
  if (type.scalar) return 'self'
  return type.list?.atomic ? 'self' : undefined
}

function walkMap(type: MapType, map: Readonly<Record<string, unknown>>): Owned {
  if (type.atomic) return 'self'
  let tree: MutableSetTree | undefined
  for (const key in map) {
    const value = map[key]
    if (value === undefined) continue
    const field = type.field(key)
    const fieldType = field ? field.type : type.elementType
    const below = fieldType ? walk(fieldType, value) : undefined
    const member = below === 'self' || field === undefined || value === null || isEmptyObject(value)
    const node = below === undefined || below === 'self' ? (member ? leaf : undefined) : nodeOf(member, below)
    if (node === undefined) continue
    tree ??= new Map()
    tree.set(field ? field.element : `f:${key}`, node)
  }
  return tree
}

function isEmptyObject(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  for (const _ in value) return false
  return true
}

function walkList(type: ListType, list: readonly unknown[]): Owned {
  if (type.atomic) return 'self'
  const tree: MutableSetTree = new Map()
  const elementType = type.elementType
  let duplicates: Set<string> | undefined
  for (const item of list) {
    const element = knownItemElement(type, item)
    if (element === undefined) continue
    // Duplicates occur only in live objects. They are owned together as one leaf.
    if (tree.has(element)) {
      duplicates ??= new Set()
      duplicates.add(element)
      continue
    }
    addMember(tree, element)
    const below = walk(elementType, item)
    if (below !== 'self') addChildren(tree, element, below)
  }
  if (duplicates) for (const element of duplicates) tree.set(element, leaf)
  return tree
}
