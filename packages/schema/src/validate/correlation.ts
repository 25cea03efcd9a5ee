import { deepEqual, goQuote, isJsonObject } from '@kubewright/base'
import type { JsonObject, StructuralNode } from '../model/structural-node.ts'

/**
 * A value together with the old value that it replaces in an update. Can be followed down into fields and items of map
 * lists.
 *
 * Values without a counterpart (new fields, items of atomic lists and sets) have no correlation: `key` and `index`
 * return `undefined`. Results of comparisons are cached, so a traversal compares every part at most once.
 */
export class Correlation {
  readonly value: unknown
  readonly old: unknown
  readonly #node: StructuralNode
  #unchanged: boolean | undefined
  #oldItems: MapList | undefined
  readonly #children = new Map<string | number, Correlation | undefined>()

  constructor(value: unknown, old: unknown, node: StructuralNode) {
    this.value = value
    this.old = old
    this.#node = node
  }

  /** Reports whether the value equals its old value. */
  unchanged(): boolean {
    this.#unchanged ??= this.#compare()
    return this.#unchanged
  }

  #compare(): boolean {
    if (isJsonObject(this.value) && isJsonObject(this.old)) {
      const names = Object.keys(this.value)
      if (names.length !== Object.keys(this.old).length) return false
      // A field without a schema has no correlation, so the object counts as changed.
      return names.every((name) => this.key(name)?.unchanged() === true)
    }
    // Map lists are compared item by item through their keys, so reordered items count as unchanged.
    if (Array.isArray(this.value) && Array.isArray(this.old) && this.#node.listType === 'map') {
      if (this.value.length !== this.old.length) return false
      return this.value.every((_, i) => this.index(i)?.unchanged() === true)
    }
    return deepEqual(this.value, this.old)
  }

  /** Returns the correlation of a field that exists in both values. */
  key(name: string): Correlation | undefined {
    if (this.#children.has(name)) return this.#children.get(name)
    const child = this.#newKey(name)
    this.#children.set(name, child)
    return child
  }

  #newKey(name: string): Correlation | undefined {
    const { value, old } = this
    if (!isJsonObject(value) || !isJsonObject(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined
    const node = this.#node.field(name)
    return node === undefined ? undefined : new Correlation(value[name], old[name], node)
  }

  /** Returns the correlation of a list item with the old item that has the same keys. */
  index(i: number): Correlation | undefined {
    if (this.#children.has(i)) return this.#children.get(i)
    const child = this.#newIndex(i)
    this.#children.set(i, child)
    return child
  }

  #newIndex(i: number): Correlation | undefined {
    const node = this.#node.items
    if (!Array.isArray(this.value) || !Array.isArray(this.old) || node === undefined) return undefined
    this.#oldItems ??= new MapList(this.#node, this.old)
    const old = this.#oldItems.get(this.value[i])
    return old === undefined ? undefined : new Correlation(this.value[i], old, node)
  }
}

/** Looks up items of a list of type `map` by their keys. Lookups in other lists return nothing. */
export class MapList {
  readonly #keys: readonly string[]
  readonly #items: Map<string, JsonObject> | undefined

  constructor(node: StructuralNode, list: readonly unknown[]) {
    this.#keys = node.listMapKeys
    if (node.listType !== 'map' || this.#keys.length === 0) return
    this.#items = new Map()
    for (const item of list) {
      const key = this.#keyOf(item)
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item as JsonObject)
    }
  }

  /** Returns the first item with the same keys as the given one. */
  get(item: unknown): JsonObject | undefined {
    if (this.#items === undefined) return undefined
    const key = this.#keyOf(item)
    return key === undefined ? undefined : this.#items.get(key)
  }

  #keyOf(item: unknown): string | undefined {
    if (!isJsonObject(item)) return undefined
    let composite = ''
    for (const name of this.#keys) {
      const value = Object.hasOwn(item, name) ? item[name] : undefined
      if (typeof value === 'string') composite += `\0${goQuote(value)}`
      else if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
        composite += `\0${value}`
      else return undefined
    }
    return composite
  }
}
