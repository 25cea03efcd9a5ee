import type { CachedForm, EncodedObject } from '@kubewright/client'
import { type Item, isEncoded } from './item.ts'

// Enough for the reads of one object in a row.
const minRecent = 64
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
  readonly #recent: SecondChance<T>
  readonly #kept: SecondChance<T>
  readonly #limit: number
  // Counts the parsed objects.
  #time = 0
  // Rises while more than a fifth of the parsed objects were parsed shortly before.
  #need = 0
  // The number of parsed objects since the cache was of use.
  #unused = 0
  /** The number of objects in the store. */
  population = 0

  /** `limit` is the maximum number of cached objects. */
  constructor(limit: number) {
    this.#recent = new SecondChance(Math.min(limit, minRecent))
    this.#kept = new SecondChance(limit)
    this.#limit = limit
  }

  /** The number of cached objects. */
  get size(): number {
    return this.#recent.size + this.#kept.size
  }

  /** The parsed, frozen form. Caches it. `source` is an object with the same contents to be parsed instead. */
  read(item: Item<T>, source?: Item<T>): T {
    if (!isEncoded(item)) return item
    const known = this.peek(item)
    if (known !== undefined) return known
    const parsedAt = item.cached as number | undefined
    const object = item.decode(source !== undefined && isEncoded(source) ? source : item)
    const isRepeated = item.decodes > 1
    this.#resize(isRepeated && parsedAt !== undefined && this.#time - parsedAt <= maxRecent)
    this.#time++
    if (isRepeated || this.population <= this.#limit / 2) this.#kept.add(item, object, this.#time)
    else this.#recent.add(item, object, this.#time)
    return object
  }

  /** The parsed, frozen forms of many objects. Does not change the cache when there are more than `limit`. */
  readAll(items: readonly Item<T>[]): T[] {
    if (items.length <= this.#limit) return items.map((item) => this.read(item))
    return items.map((item) => (isEncoded(item) ? (this.peek(item) ?? item.decode()) : item))
  }

  /** The parsed, frozen form if it is cached. */
  peek(item: EncodedObject<T>): T | undefined {
    const form = item.cached
    if (typeof form !== 'object') return undefined
    form.wasRead = true
    this.#unused = 0
    return form.value
  }

  /** Removes an object that has left the store from the cache and returns its parsed form, if any. */
  take(item: EncodedObject<T>): T | undefined {
    const form = item.cached as Form<T> | number | undefined
    if (typeof form !== 'object') return undefined
    const { value } = form
    form.cache.delete(form)
    return value
  }

  /** Empties the cache. */
  clear(): void {
    this.#kept.clear()
    this.#recent.clear()
  }

  /**
   * Adapts the number of recent objects, after an object was parsed. `isLate`: a larger cache would still have had it.
   * Recent objects that nobody reads again would only fill the old generation of the heap.
   */
  #resize(isLate: boolean): void {
    const most = Math.min(this.#limit, maxRecent)
    this.#need = Math.max(0, this.#need + (isLate ? 4 : -1))
    if (this.#need >= minRecent) {
      this.#recent.resize(Math.min(most, this.#recent.limit * 2))
      this.#need = 0
    }
    if (++this.#unused >= maxRecent) {
      this.#recent.resize(Math.max(Math.min(most, minRecent), this.#recent.limit / 2))
      this.#unused = 0
    }
  }
}

/** A parsed form and its place in a cache. Empty when the object was removed from the cache. */
class Form<T> implements CachedForm<T> {
  readonly cache: SecondChance<T>
  item: EncodedObject<T> | undefined
  value: T | undefined
  readonly time: number
  wasRead = false

  constructor(cache: SecondChance<T>, item: EncodedObject<T>, value: T, time: number) {
    this.time = time
    this.cache = cache
    this.item = item
    this.value = value
  }
}

/**
 * A cache of bounded size. Evicts the oldest object that was not read since it was added or since it last escaped
 * eviction. A list of slots, not a map: each table that a map outgrows refers to the next one, so that V8 promotes
 * what passes through it.
 */
class SecondChance<T> {
  readonly #slots: Form<T>[] = []
  #next = 0
  #limit: number
  size = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The maximum number of objects. */
  get limit(): number {
    return this.#limit
  }

  resize(limit: number): void {
    this.#limit = limit
    for (const form of this.#slots.splice(limit)) this.delete(form)
    this.#next = 0
  }

  add(item: EncodedObject<T>, value: T, time: number): void {
    if (this.#limit < 1) return
    const form = new Form(this, item, value, time)
    item.cached = form
    this.size++
    if (this.#slots.length < this.#limit) {
      this.#slots.push(form)
      return
    }
    this.#slots[this.#victim()] = form
  }

  delete(form: Form<T>): void {
    if (form.item === undefined) return
    form.item.cached = form.time
    form.item = undefined
    form.value = undefined
    this.size--
  }

  clear(): void {
    for (const form of this.#slots) this.delete(form)
    this.#slots.length = 0
    this.#next = 0
  }

  /** Empties a slot and returns its index. */
  #victim(): number {
    for (;;) {
      const index = this.#next
      this.#next = (index + 1) % this.#slots.length
      const form = this.#slots[index] as Form<T>
      if (!form.wasRead || form.item === undefined) {
        this.delete(form)
        return index
      }
      form.wasRead = false
    }
  }
}
