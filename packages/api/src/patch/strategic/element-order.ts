import { isJsonObject } from '@kubewright/base'
import { goValue } from '@kubewright/schema'
import { goType } from '../../fieldset/go-text.ts'
import { getOwn } from '../../own-property.ts'
import { PatchError } from '../patch-error.ts'
import { badType, listOfLists, noMergeKey, patchDirective } from './directives.ts'

/** The common Go type of all items. Throws PatchError when the types differ, an item is a list, or there are no items. */
export function elementType(...lists: readonly (readonly unknown[])[]): string {
  let type: string | undefined
  for (const list of lists) {
    for (const item of list) {
      const itemType = goType(item)
      if (itemType === '[]interface {}' && type === undefined) throw listOfLists()
      type ??= itemType
      if (type !== itemType) throw new PatchError(`list element types are not identical: ${goValue(lists)}`)
    }
  }
  if (type === undefined) throw new PatchError('no elements in any of the given slices')
  return type
}

/** True for the element type of lists that merge by a key. */
export function isMapType(type: string): boolean {
  return type.startsWith('map')
}

/** The identity of an item within its list: the value of its merge key, or the item itself for scalars. */
export function identityOf(item: unknown, mergeKey: string, maps: boolean): unknown {
  if (!maps) return item
  return isJsonObject(item) ? getOwn(item, mergeKey) : undefined
}

/** The value of the merge key. Throws PatchError for an item without one. */
export function mergeKeyOf(item: unknown, mergeKey: string): unknown {
  if (!isJsonObject(item)) throw badType({}, item)
  const value = getOwn(item, mergeKey)
  if (value === undefined) throw noMergeKey(item, mergeKey)
  return value
}

/** True for a list item with the directive `$patch: delete`. */
export function deletes(item: unknown): boolean {
  return isJsonObject(item) && getOwn(item, patchDirective) === 'delete'
}

function positions(order: readonly unknown[], mergeKey: string, maps: boolean): Map<unknown, number> {
  const found = new Map<unknown, number>()
  for (const [i, item] of order.entries()) {
    const identity = identityOf(item, mergeKey, maps)
    if (!found.has(identity)) found.set(identity, i)
  }
  return found
}

/** The items sorted by the given order, with `$patch: delete` items last. */
export function inOrder(
  items: readonly unknown[],
  order: readonly unknown[],
  mergeKey: string,
  maps: boolean,
): unknown[] {
  if (maps) for (const item of [...items, ...order]) mergeKeyOf(item, mergeKey)
  const place = positions(order, mergeKey, maps)
  const at = (item: unknown): number => place.get(identityOf(item, mergeKey, maps)) ?? -1
  const deletions = maps ? items.filter(deletes) : []
  const rest = maps ? items.filter((item) => !deletes(item)) : [...items]
  return rest.sort((a, b) => at(a) - at(b)).concat(deletions)
}

/**
 * The merged list in its final order. Items that the patch lists follow its order, the others keep their relative live
 * order, and the two sequences are interleaved by live position as far as both orders allow.
 */
export function mergeOrders(
  merged: readonly unknown[],
  patchOrder: readonly unknown[],
  liveOrder: readonly unknown[],
  mergeKey: string,
  maps: boolean,
): unknown[] {
  const mentioned = positions(patchOrder, mergeKey, maps)
  const isMentioned = (item: unknown): boolean => mentioned.has(identityOf(item, mergeKey, maps))
  const patched = inOrder(merged.filter(isMentioned), patchOrder, mergeKey, maps)
  const others = inOrder(
    merged.filter((item) => !isMentioned(item)),
    liveOrder,
    mergeKey,
    maps,
  )
  const live = positions(liveOrder, mergeKey, maps)
  const at = (item: unknown): number | undefined => live.get(identityOf(item, mergeKey, maps))
  const out: unknown[] = []
  let other = 0
  for (const item of patched) {
    const place = at(item)
    while (other < others.length) {
      const before = at(others[other])
      if (place === undefined || before === undefined || before >= place) break
      out.push(others[other++])
    }
    out.push(item)
  }
  return out.concat(others.slice(other))
}

/** The positions of the items of a list by the value of their merge key. Positions are added in ascending order. */
export class KeyIndex {
  readonly #positions = new Map<unknown, { readonly list: number[]; start: number }>()

  add(value: unknown, position: number): void {
    const known = this.#positions.get(value)
    if (known) known.list.push(position)
    else this.#positions.set(value, { list: [position], start: 0 })
  }

  /** The position of the first item with the value. */
  first(value: unknown): number | undefined {
    const known = this.#positions.get(value)
    return known?.list[known.start]
  }

  removeFirst(value: unknown): void {
    const known = this.#positions.get(value)
    if (known) known.start++
  }
}
