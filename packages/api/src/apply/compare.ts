import { deepEqual, isJsonObject } from '@kubewright/base'
import { FieldSet } from '../fieldset/field-set.ts'
import { addChildren, addMember, emptyTree, type MutableSetTree } from '../fieldset/set-tree.ts'
import type { JsonObject } from '../own-property.ts'
import { knownItemElement } from './list-item-element.ts'
import type { ListType, MapType, TypeNode } from './type-node.ts'

/** The field paths in which two values differ. The three sets are disjoint. */
export interface Comparison {
  readonly removed: FieldSet
  readonly modified: FieldSet
  readonly added: FieldSet
}

// The kinds of difference, as indexes into `Difference.below`.
const REMOVED = 0
const MODIFIED = 1
const ADDED = 2
type Kind = typeof REMOVED | typeof MODIFIED | typeof ADDED

/** The differences at one path: of the value itself (`self`, -1 for none) and below it. Created only where there is one. */
class Difference {
  self = -1
  readonly below: (MutableSetTree | undefined)[] = [undefined, undefined, undefined]

  tree(kind: Kind): MutableSetTree {
    return (this.below[kind] ??= new Map())
  }

  take(element: string, child: Difference | undefined): void {
    if (child === undefined) return
    if (child.self >= 0) addMember(this.tree(child.self as Kind), element)
    for (let kind = 0; kind < 3; kind++) {
      const tree = child.below[kind]
      if (tree && tree.size > 0) addChildren(this.tree(kind as Kind), element, tree)
    }
  }
}

const none: Comparison = { removed: FieldSet.empty, modified: FieldSet.empty, added: FieldSet.empty }

/** Compares two values of the same type. Identical subtrees (same reference) are skipped. */
export function compareTyped(type: TypeNode, before: unknown, after: unknown): Comparison {
  const result = compare(type, before, after)
  if (result === undefined) return none
  const set = (kind: Kind): FieldSet => FieldSet.fromTree(result.below[kind] ?? emptyTree)
  return { removed: set(REMOVED), modified: set(MODIFIED), added: set(ADDED) }
}

type Form = 'scalar' | 'list' | 'map'

/** The form under which the type accepts the value; undefined for an absent or null value, which every form accepts. */
function formOf(type: TypeNode, value: unknown): Form | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value !== 'object') return type.scalar && 'scalar'
  return Array.isArray(value) ? type.list && 'list' : type.map && 'map'
}

/** The form of a type that allows several, in the order of structured-merge-diff. */
export function firstForm(type: TypeNode): Form {
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list'
}

/** Compares two values. `undefined` means absent; at most one side is absent. */
function compare(type: TypeNode, before: unknown, after: unknown): Difference | undefined {
  if (before === after) return undefined
  let result: Difference | undefined
  let leaf: boolean
  const left = formOf(type, before)
  const right = formOf(type, after)
  if (before !== undefined && after !== undefined && left !== right && (left ?? right) !== onlyForm(type)) {
    // Only an untyped field can change its form. Compare under both forms and combine the differences.
    const first = new Difference()
    compareForm(left ?? firstForm(type), type, before, after, first)
    result = new Difference()
    leaf = compareForm(right ?? firstForm(type), type, before, after, result)
    if (first.self >= 0 && result.self < 0) result.self = first.self
    for (let kind = 0; kind < 3; kind++) {
      for (const [element, node] of first.below[kind] ?? []) {
        if (node.member) addMember(result.tree(kind as Kind), element)
        addChildren(result.tree(kind as Kind), element, node.children)
      }
    }
  } else {
    const form = (after === undefined ? left : right) ?? left ?? firstForm(type)
    if (form === 'scalar') {
      if (before !== undefined && after !== undefined && deepEqual(before, after)) return undefined
      result = new Difference()
      result.self = before === undefined ? ADDED : after === undefined ? REMOVED : MODIFIED
      return result
    }
    result = new Difference()
    leaf = compareForm(form, type, before, after, result)
  }
  if (!leaf) {
    if (before === undefined) result.self = ADDED
    else if (after === undefined) result.self = REMOVED
  }
  return result.self < 0 && !result.below[0] && !result.below[1] && !result.below[2] ? undefined : result
}

function onlyForm(type: TypeNode): Form | undefined {
  if (type.map) return type.scalar || type.list ? undefined : 'map'
  if (type.scalar) return type.list ? undefined : 'scalar'
  return 'list'
}

/** Records the differences under one form. Returns true when the value was compared as a single leaf. */
function compareForm(form: Form, type: TypeNode, before: unknown, after: unknown, out: Difference): boolean {
  if (form === 'map') {
    const left = isJsonObject(before) ? before : undefined
    const right = isJsonObject(after) ? after : undefined
    // Two empty sides are compared as a leaf, so that null and empty differ.
    if (type.map?.atomic || (isEmpty(left) && isEmpty(right))) return compareLeaf(before, after, out)
    compareMaps(type.map as MapType, left, right, out)
    return false
  }
  if (form === 'list') {
    const left = Array.isArray(before) ? before : []
    const right = Array.isArray(after) ? after : []
    if (type.list?.atomic || (left.length === 0 && right.length === 0)) return compareLeaf(before, after, out)
    compareLists(type.list as ListType, left, right, out)
    return false
  }
  return compareLeaf(before, after, out)
}

export function isEmpty(map: JsonObject | undefined): boolean {
  for (const _ in map) return false
  return true
}

function compareLeaf(before: unknown, after: unknown, out: Difference): true {
  if (before === undefined) out.self = ADDED
  else if (after === undefined) out.self = REMOVED
  else if (!deepEqual(before, after)) out.self = MODIFIED
  return true
}

function compareMaps(
  type: MapType,
  left: JsonObject | undefined,
  right: JsonObject | undefined,
  out: Difference,
): void {
  if (left !== undefined) {
    for (const key in left) {
      const before = left[key]
      const after = right !== undefined && Object.hasOwn(right, key) ? right[key] : undefined
      if (before !== after) compareField(type, key, before, after, out)
    }
  }
  if (right !== undefined) {
    for (const key in right) {
      if (left === undefined || !Object.hasOwn(left, key)) compareField(type, key, undefined, right[key], out)
    }
  }
}

function compareField(type: MapType, key: string, before: unknown, after: unknown, out: Difference): void {
  const field = type.field(key)
  const fieldType = field ? field.type : type.elementType
  if (fieldType) out.take(field ? field.element : `f:${key}`, compare(fieldType, before, after))
}

function compareLists(type: ListType, left: readonly unknown[], right: readonly unknown[], out: Difference): void {
  const before = index(type, left)
  const after = index(type, right)
  for (const [element, items] of before) compareItems(type, element, items, after.get(element), out)
  for (const [element, items] of after) if (!before.has(element)) compareItems(type, element, undefined, items, out)
}

/** The items by path element. An element has several items only when the list has duplicates. */
function index(type: ListType, list: readonly unknown[]): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>()
  for (const item of list) {
    const element = knownItemElement(type, item)
    if (element === undefined) continue
    const known = items.get(element)
    if (known) known.push(item)
    else items.set(element, [item])
  }
  return items
}

function compareItems(
  type: ListType,
  element: string,
  before: readonly unknown[] | undefined,
  after: readonly unknown[] | undefined,
  out: Difference,
): void {
  const left = before?.length ?? 0
  const right = after?.length ?? 0
  if (left <= 1 && right <= 1) {
    out.take(element, compare(type.elementType, before?.[0], after?.[0]))
  } else if (left >= 2 && right >= 2) {
    if (!deepEqual(before, after)) addMember(out.tree(MODIFIED), element)
  } else if (left >= 2) {
    // Duplicates are owned as one leaf. It is removed, and the single remaining item is added with all its fields.
    if (right === 1) out.take(element, compare(type.elementType, undefined, after?.[0]))
    addMember(out.tree(REMOVED), element)
  } else {
    if (left === 1) out.take(element, compare(type.elementType, before?.[0], undefined))
    addMember(out.tree(ADDED), element)
  }
}
