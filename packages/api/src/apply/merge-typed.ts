import { deepEqual } from '@kubewright/base'
import { isObject, type JsonObject, setOwn } from '../own-property.ts'
import { knownItemElement } from './list-item-element.ts'
import type { ListType, MapType, TypeNode } from './type-node.ts'

/**
 * Merges an applied configuration into a live value of the same type. Removes nothing; where both have a leaf, the
 * applied value wins; items that the configuration lists take its order. Shares unchanged parts with the live value,
 * and returns the live value itself when nothing changes. `undefined` means absent.
 */
export function mergeTyped(type: TypeNode, live: unknown, applied: unknown): unknown {
  if (applied === undefined || live === applied) return live
  if (live === undefined) return applied
  const form = formOf(type, applied) ?? firstForm(type)
  if (form === 'map') return mergeMaps(type.map as MapType, live, applied)
  if (form === 'list') return mergeLists(type.list as ListType, live, applied)
  return choose(live, applied)
}

function formOf(type: TypeNode, value: unknown): 'map' | 'scalar' | 'list' | undefined {
  if (value === null) return undefined
  if (typeof value !== 'object') return type.scalar && 'scalar'
  return Array.isArray(value) ? type.list && 'list' : type.map && 'map'
}

function firstForm(type: TypeNode): 'map' | 'scalar' | 'list' {
  return type.map ? 'map' : type.scalar ? 'scalar' : 'list'
}

/** The applied leaf, or the live one when they are equal, so that an unchanged value keeps its identity. */
function choose(live: unknown, applied: unknown): unknown {
  return deepEqual(live, applied) ? live : applied
}

function isEmpty(map: JsonObject): boolean {
  for (const _ in map) return false
  return true
}

function mergeMaps(type: MapType, live: unknown, applied: unknown): unknown {
  const left = isObject(live) && !isEmpty(live) ? live : undefined
  const right = isObject(applied) && !isEmpty(applied) ? applied : undefined
  if (type.atomic || (left === undefined && right === undefined)) return choose(live, applied)
  // Null or an empty map removes nothing from a map with contents.
  if (right === undefined) return live
  return left === undefined ? right : mergeFields(type, left, right)
}

function mergeFields(type: MapType, live: JsonObject, applied: JsonObject): JsonObject {
  let out: Record<string, unknown> | undefined
  for (const key in applied) {
    const value = applied[key]
    if (value === undefined) continue
    const field = type.field(key)
    const fieldType = field ? field.type : type.elementType
    const before = Object.hasOwn(live, key) ? live[key] : undefined
    const merged = fieldType ? mergeTyped(fieldType, before, value) : value
    if (merged === before) continue
    out ??= { ...live }
    setOwn(out, key, merged)
  }
  return out ?? live
}

function mergeLists(type: ListType, live: unknown, applied: unknown): unknown {
  const left = Array.isArray(live) ? live : []
  const right = Array.isArray(applied) ? applied : []
  if (type.atomic || (left.length === 0 && right.length === 0)) return choose(live, applied)
  if (right.length === 0) return live
  const merged = mergeItems(type, left, right)
  if (merged.length !== left.length) return merged
  for (let i = 0; i < merged.length; i++) if (merged[i] !== left[i]) return merged
  return live
}

interface Indexed {
  readonly elements: readonly string[]
  /** The item of each element; undefined for duplicates, which have no single item to merge with. */
  readonly items: ReadonlyMap<string, unknown>
}

// Validation rejected items without an element before, on both sides.
function elementsOf(type: ListType, list: readonly unknown[]): string[] {
  return list.map((item) => knownItemElement(type, item) ?? '')
}

function index(elements: readonly string[], list: readonly unknown[]): Indexed {
  const items = new Map<string, unknown>()
  for (let i = 0; i < list.length; i++) {
    const element = elements[i] as string
    items.set(element, items.has(element) ? undefined : list[i])
  }
  return { elements, items }
}

/** True when both lists have the same elements in the same order, which is the common case of a repeated apply. */
function sameOrder(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false
  return true
}

/**
 * Interleaves two associative lists: items of both sides in the applied order, items of only the live side at their
 * positions between them. The order rules are those of structured-merge-diff (typed/merge.go, visitListItems).
 */
function mergeItems(type: ListType, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const leftElements = elementsOf(type, live)
  const rightElements = elementsOf(type, applied)
  // Validation rejects duplicates on the applied side, so with equal elements the live side has none either.
  if (sameOrder(leftElements, rightElements)) {
    return live.map((item, i) => mergeTyped(type.elementType, item, applied[i]))
  }
  const left = index(leftElements, live)
  const right = index(rightElements, applied)
  const shared = right.elements.filter((element) => left.items.has(element))
  let sharedAt = 0
  const out: unknown[] = []
  const done = new Set<string>()
  const mergeItem = (element: string): void => {
    done.add(element)
    out.push(mergeTyped(type.elementType, left.items.get(element), right.items.get(element)))
  }
  let l = 0
  let r = 0
  while (l < live.length || r < applied.length) {
    if (l < live.length && r < applied.length) {
      const element = left.elements[l] as string
      if (element === right.elements[r]) {
        mergeItem(element)
        l++
        r++
        sharedAt++
        continue
      }
      if (right.items.has(element) && sharedAt < shared.length && shared[sharedAt] !== element) {
        // A shared item that is not next in the applied order.
        l++
        continue
      }
    }
    if (l < live.length) {
      const element = left.elements[l] as string
      if (!right.items.has(element)) {
        out.push(live[l])
        l++
        continue
      }
      if (done.has(element)) l++
    }
    if (r < applied.length) {
      const element = right.elements[r] as string
      mergeItem(element)
      r++
      if (shared[sharedAt] === element) sharedAt++
    }
  }
  return out
}
