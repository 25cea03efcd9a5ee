import type { EncodedObject } from '@kubewright/client'
import { type Item, isEncoded } from './item.ts'

// Enough for several reads of an object between its event and the end of its reconcile, and for its next event when many objects are
// created at once: with a quarter of this, a pod was parsed 1.7 times for each of its events.
const maxRecent = 1024

/**
 * Caches the parsed forms of encoded objects, so that frequent reads parse an object once and return the same value. An
 * object that is read for the first time stays in a small cache; one that is parsed a second time moves to the main
 * cache. A scan over all objects therefore neither evicts frequently read objects nor fills the heap. When there are
 * few objects, all objects that are read are kept.
 */
export class HotObjects<T> {
  readonly #recent: TwoGenerations<EncodedObject<T>, T>
  readonly #kept: TwoGenerations<EncodedObject<T>, T>
  readonly #limit: number
  /** The number of objects in the store. */
  population = 0

  /** `limit` is the maximum number of cached objects. */
  constructor(limit: number) {
    this.#recent = new TwoGenerations(Math.min(limit, maxRecent) / 2)
    this.#kept = new TwoGenerations(limit / 2)
    this.#limit = limit
  }

  /** The number of cached objects. */
  get size(): number {
    return this.#recent.size + this.#kept.size
  }

  /** The parsed, frozen form. Caches it. */
  read(item: Item<T>): T {
    if (!isEncoded(item)) return item
    const known = this.peek(item)
    if (known !== undefined) return known
    const object = item.decode()
    if (item.decodes > 1 || this.population <= this.#limit / 2) this.#kept.set(item, object)
    else this.#recent.set(item, object)
    return object
  }

  /** The parsed, frozen forms of many objects. Does not change the cache when there are more than `limit`. */
  readAll(items: readonly Item<T>[]): T[] {
    if (items.length <= this.#limit) return items.map((item) => this.read(item))
    return items.map((item) => (isEncoded(item) ? (this.peek(item) ?? item.decode()) : item))
  }

  /** The parsed, frozen form if it is cached. */
  peek(item: EncodedObject<T>): T | undefined {
    return this.#kept.get(item) ?? this.#recent.get(item)
  }

  /** Removes an object that has left the store from the cache and returns its parsed form, if any. */
  take(item: EncodedObject<T>): T | undefined {
    return this.#kept.take(item) ?? this.#recent.take(item)
  }

  /** Empties the cache and releases the bytes of its objects. */
  clear(): void {
    this.#kept.clear()
    this.#recent.clear()
  }
}

/** A map of bounded size that evicts entries which are not read while a generation fills up. */
class TwoGenerations<K, V> {
  readonly #limit: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined || this.#old.size === 0) return young
    const old = this.#old.get(key)
    if (old !== undefined) {
      this.#old.delete(key)
      this.set(key, old)
    }
    return old
  }

  set(key: K, value: V): void {
    if (this.#limit < 1) return
    this.#young.set(key, value)
    if (this.#young.size < this.#limit) return
    this.#old = this.#young
    this.#young = new Map()
  }

  take(key: K): V | undefined {
    const value = this.#young.get(key) ?? this.#old.get(key)
    if (value !== undefined && !this.#young.delete(key)) this.#old.delete(key)
    return value
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }
}
