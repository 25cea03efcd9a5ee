import type { EncodedObject } from '@kubewright/client'
import { type Item, isEncoded } from './item.ts'

// Enough for an object to be read several times on the way from its event to the end of its reconcile.
const maxRecent = 256

/**
 * The parsed forms of encoded objects that are read often, so that these are parsed once and are the same object each time. An object
 * that is read for the first time is kept for a moment; one that has to be parsed again has shown that it is worth keeping. So a
 * walk over everything neither pushes out what is in use nor fills the heap with what will not be read again. Where there are few
 * objects, all that are read are kept.
 */
export class HotObjects<T> {
  readonly #recent: TwoGenerations<EncodedObject<T>, T>
  readonly #kept: TwoGenerations<EncodedObject<T>, T>
  readonly #limit: number
  /** How many objects there are. */
  population = 0

  /** `limit` is how many objects are kept, at most. */
  constructor(limit: number) {
    this.#recent = new TwoGenerations(Math.min(limit, maxRecent) / 2)
    this.#kept = new TwoGenerations(limit / 2)
    this.#limit = limit
  }

  /** The number of objects that are kept parsed. */
  get size(): number {
    return this.#recent.size + this.#kept.size
  }

  /** The parsed, frozen form, at hand for the next time. */
  read(item: Item<T>): T {
    if (!isEncoded(item)) return item
    const known = this.peek(item)
    if (known !== undefined) return known
    const object = item.decode()
    if (item.decodes > 1 || this.population <= this.#limit / 2) this.#kept.set(item, object)
    else this.#recent.set(item, object)
    return object
  }

  /** The parsed, frozen forms of many objects. If they are more than can be kept, none is kept for having been among them. */
  readAll(items: readonly Item<T>[]): T[] {
    if (items.length <= this.#limit) return items.map((item) => this.read(item))
    return items.map((item) => (isEncoded(item) ? (this.peek(item) ?? item.decode()) : item))
  }

  /** The parsed, frozen form, if it is at hand. */
  peek(item: EncodedObject<T>): T | undefined {
    return this.#kept.get(item) ?? this.#recent.get(item)
  }

  /** Gives up the parsed form of an object that is no longer there, if it is at hand. */
  take(item: EncodedObject<T>): T | undefined {
    return this.#kept.take(item) ?? this.#recent.take(item)
  }

  /** Forgets everything, and with it the bytes that the objects came from. */
  clear(): void {
    this.#kept.clear()
    this.#recent.clear()
  }
}

/** A map of bounded size: what is not asked for while a generation fills up is forgotten. */
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
