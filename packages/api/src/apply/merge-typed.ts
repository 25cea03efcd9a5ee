import { deepEqual, isJsonObject } from '@kubewright/base'
import { type JsonObject, setOwn } from '../own-property.ts'
import { firstForm, isEmpty } from './compare.ts'
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

/** The applied leaf, or the live one when they are equal, so that an unchanged value keeps its identity. */
function choose(live: unknown, applied: unknown): unknown {
  return deepEqual(live, applied) ? live : applied
}

function mergeMaps(type: MapType, live: unknown, applied: unknown): unknown {
  const left = isJsonObject(live) && !isEmpty(live) ? live : undefined
  const right = isJsonObject(applied) && !isEmpty(applied) ? applied : undefined
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

// Validation rejected items without an element before, on both sides.
function elementsOf(type: ListType, list: readonly unknown[]): string[] {
  return list.map((item) => knownItemElement(type, item) ?? '')
}

/** The item of each element; undefined for duplicates, which have no single item to merge with. */
function itemsByElement(elements: readonly string[], list: readonly unknown[]): ReadonlyMap<string, unknown> {
  const items = new Map<string, unknown>()
  for (const [i, element] of elements.entries()) items.set(element, items.has(element) ? undefined : list[i])
  return items
}

/** True when both lists have the same elements in the same order, which is the common case of a repeated apply. */
function sameOrder(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false
  return true
}

/**
 * Merges two associative lists. The applied items keep their order. An item of the live list alone stays in front of the next item that
 * both lists have and whose turn it is in the applied order; the order is that of structured-merge-diff.
 */
function mergeItems(type: ListType, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const liveElements = elementsOf(type, live)
  const appliedElements = elementsOf(type, applied)
  // Validation rejects duplicates on the applied side, so with equal elements the live side has none either.
  if (sameOrder(liveElements, appliedElements)) {
    return live.map((item, i) => mergeTyped(type.elementType, item, applied[i]))
  }
  const liveItems = itemsByElement(liveElements, live)
  const appliedItems = itemsByElement(appliedElements, applied)
  const shared = appliedElements.filter((element) => liveItems.has(element))
  const out: unknown[] = []
  let taken = 0
  const takeApplied = (): string => {
    const element = appliedElements[taken++] as string
    out.push(mergeTyped(type.elementType, liveItems.get(element), appliedItems.get(element)))
    return element
  }
  let turn = 0
  for (const [i, element] of liveElements.entries()) {
    if (!appliedItems.has(element)) out.push(live[i])
    else if (element === shared[turn]) {
      while (takeApplied() !== element);
      turn++
    } else if (turn === shared.length && taken < applied.length) {
      // A duplicate of an item that was merged before makes room for one of the remaining applied items.
      takeApplied()
    }
  }
  while (taken < applied.length) takeApplied()
  return out
}
