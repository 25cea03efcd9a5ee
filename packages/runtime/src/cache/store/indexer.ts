import type { KubeObject, Requirement } from '@kubewright/api'
import { deepFreeze, SortedKeys } from '@kubewright/base'
import type { EncodedObject } from '@kubewright/client'
import { BytePool } from './byte-pool.ts'
import { HotObjects } from './hot-objects.ts'
import { IndexBuckets, type IndexFunction } from './index-buckets.ts'
import { type Item, isEncoded, keyOfItem } from './item.ts'
import type { Store, StoreQuery } from './store.ts'

// The maximum number of label indexes. Selectors on further labels scan the store.
const maxLabelIndexes = 32

/** The index of a label, for queries of one namespace or of all. */
interface LabelIndex {
  readonly label: string
  /** Whether its values include the namespace: many namespaces have objects with equal labels. */
  readonly isScoped: boolean
  readonly buckets: IndexBuckets
}

/** Options of an {@link Indexer}. */
export interface IndexerOptions {
  /**
   * Called when an index function throws. The object is stored, but missing in that index. @default the error is
   * rethrown
   */
  readonly onIndexError?: ((error: unknown, index: string, key: string) => void) | undefined
  /** The maximum number of encoded objects whose parsed form is cached. @default 4096 */
  readonly hotObjects?: number | undefined
}

/** The memory use of a store. */
export interface StoreStats {
  readonly objects: number
  /** The bytes allocated for encoded objects. */
  readonly bytes: number
  /** The number of encoded objects whose parsed form is cached. */
  readonly parsed: number
}

/** The effect of a write on a store. */
export interface Replacement<T> {
  /** The previous object; undefined if there was none. It stays readable. */
  readonly before: Item<T> | undefined
  /** The object as the store holds it. A later write changes the contents of an encoded object that is not pinned. */
  readonly stored: Item<T>
}

/**
 * A writable store with indexes. Namespaces need no index because keys are sorted. A label gets an index when a
 * selector first requires certain values of it. Each write updates the store and all indexes together.
 *
 * Encoded objects are held as bytes and parsed when they are read; see `docs/adr/0009-lean-cache.md`.
 */
export class Indexer<T extends KubeObject> implements Store<T> {
  readonly #items = new Map<string, Item<T>>()
  // Exactly the keys of #items, sorted.
  #keys = new SortedKeys()
  // Holds the bytes of exactly the encoded objects in #items.
  #pool = new BytePool()
  readonly #indexes = new Map<string, { readonly valuesOf: IndexFunction<T>; readonly buckets: IndexBuckets }>()
  readonly #labelIndexes = new Map<string, LabelIndex>()
  readonly #onIndexError: NonNullable<IndexerOptions['onIndexError']>
  #resourceVersion = ''
  /** The parsed forms of encoded objects. */
  readonly hot: HotObjects<T>

  constructor(indexers: Readonly<Record<string, IndexFunction<T>>> = {}, options: IndexerOptions = {}) {
    this.#onIndexError = options.onIndexError ?? rethrow
    this.hot = new HotObjects(options.hotObjects ?? 4096)
    for (const [name, valuesOf] of Object.entries(indexers)) this.addIndexer(name, valuesOf)
  }

  get size(): number {
    return this.#items.size
  }

  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get stats(): StoreStats {
    return { objects: this.#items.size, bytes: this.#pool.capacity, parsed: this.hot.size }
  }

  get(key: string): T | undefined {
    const item = this.#items.get(key)
    return item === undefined ? undefined : this.hot.read(item)
  }

  has(key: string): boolean {
    return this.#items.has(key)
  }

  keys(): string[] {
    return this.#scan(undefined)
  }

  list(query: StoreQuery = {}): T[] {
    const { namespace, selector } = query
    if (selector?.isNothing) return []
    const keys = this.#narrow(query) ?? this.#scan(namespace)
    const items: Item<T>[] = []
    for (const key of keys) {
      const item = this.#items.get(key)
      if (item === undefined) continue
      if (namespace !== undefined && namespaceOf(key) !== namespace) continue
      if (selector === undefined || selector.matches(this.#labels(item))) items.push(item)
    }
    return this.hot.readAll(items)
  }

  addIndexer(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new TypeError(`Cannot add index ${JSON.stringify(name)}: it exists already`)
    const buckets = new IndexBuckets()
    for (const [key, item] of this.#items) buckets.set(key, this.#values(name, valuesOf, key, item))
    this.#indexes.set(name, { valuesOf, buckets })
  }

  byIndex(name: string, value: string): T[] {
    return this.list({ index: { name, value } })
  }

  indexValues(name: string): string[] {
    return this.#index(name).values()
  }

  /** Adds or replaces an object, freezes it, and returns the previous one. */
  set(object: Item<T>): T | undefined {
    const { before } = this.put(object)
    return before === undefined ? undefined : this.#decoded(before)
  }

  /** Removes an object and returns it, or undefined when there is none. */
  delete(key: string): T | undefined {
    const before = this.take(key)
    return before === undefined ? undefined : this.#decoded(before)
  }

  /** Like {@link set}, but does not parse the previous object. The store copies what it keeps of an encoded object. */
  put(item: Item<T>): Replacement<T> {
    const key = keyOfItem(item)
    const known = this.#items.get(key)
    if (known !== undefined && isEncoded(known) && isEncoded(item) && known.pins === 0) {
      const before = this.#content(known)
      this.#pool.renew(known, item)
      this.#reindex(key, known)
      return { before, stored: known }
    }
    const stored = isEncoded(item) ? item.clone() : (deepFreeze(item) as T)
    if (isEncoded(stored)) this.#pool.hold(stored)
    this.#items.set(key, stored)
    if (known === undefined) {
      this.#keys.add(key)
      this.hot.population = this.#items.size
    }
    const before = known === undefined ? undefined : this.#removed(known)
    this.#reindex(key, stored)
    return { before, stored }
  }

  /** Like {@link delete}, but does not parse the object. */
  take(key: string): Item<T> | undefined {
    const known = this.#items.get(key)
    if (known === undefined) return undefined
    this.#items.delete(key)
    this.#keys.delete(key)
    this.hot.population = this.#items.size
    for (const { buckets } of this.#indexes.values()) buckets.delete(key)
    for (const { buckets } of this.#labelIndexes.values()) buckets.delete(key)
    return this.#removed(known)
  }

  /** An object that has left the store, in a form that stays readable. */
  #removed(item: Item<T>): Item<T> {
    if (!isEncoded(item)) return item
    if (item.pins > 0) {
      this.#pool.release(item)
      return item
    }
    const content = this.#content(item)
    this.#pool.discard(item)
    return content
  }

  /**
   * The contents of an encoded object, which stay readable when it is renewed. A young copy: V8 would promote whatever a
   * stored object, which is old, refers to.
   */
  #content(item: EncodedObject<T>): Item<T> {
    const parsed = this.hot.take(item)
    if (parsed !== undefined) return parsed
    const copy = item.clone()
    copy.detach()
    return copy
  }

  /** The objects in the form in which they are stored, ordered by key. */
  *items(): Generator<Item<T>> {
    for (const key of this.#scan(undefined)) {
      const item = this.#items.get(key)
      if (item !== undefined) yield item
    }
  }

  /** Replaces the whole content at once. Of several objects with the same key, the last one wins. */
  replace(objects: readonly Item<T>[], resourceVersion: string): void {
    this.#items.clear()
    for (const item of objects) this.#items.set(keyOfItem(item), item)
    // The previous objects keep their bytes in the old pool, which no longer changes.
    this.hot.clear()
    this.hot.population = this.#items.size
    this.#pool = this.#items.size === objects.length ? poolOf(objects) : new BytePool()
    for (const item of this.#items.values()) {
      if (isEncoded(item)) this.#pool.hold(item)
      else deepFreeze(item)
    }
    this.#keys = new SortedKeys()
    for (const key of [...this.#items.keys()].sort()) this.#keys.add(key)
    for (const { buckets } of this.#indexes.values()) buckets.clear()
    for (const { buckets } of this.#labelIndexes.values()) buckets.clear()
    for (const [key, item] of this.#items) this.#reindex(key, item)
    this.#resourceVersion = resourceVersion
  }

  /** Records the resource version that the store has reached. */
  bookmark(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion
  }

  #scan(namespace: string | undefined): string[] {
    const keys: string[] = []
    const prefix = namespace === undefined || namespace === '' ? '' : `${namespace}/`
    this.#keys.scan(prefix, (key) => {
      if (!key.startsWith(prefix)) return false
      keys.push(key)
      return true
    })
    return keys
  }

  /** The keys of the smallest bucket that must contain every match, sorted; undefined when no index helps. */
  #narrow(query: StoreQuery): string[] | undefined {
    const buckets: ReadonlySet<string>[] = []
    if (query.index !== undefined) buckets.push(this.#index(query.index.name).keys(query.index.value))
    for (const requirement of query.selector?.requirements ?? []) {
      const bucket = this.#labelBucket(requirement, query.namespace ?? '')
      if (bucket !== undefined) buckets.push(bucket)
    }
    if (buckets.length === 0) return undefined
    const smallest = buckets.reduce((least, bucket) => (bucket.size < least.size ? bucket : least))
    // The caller checks labels and namespace of each key, but not the named index.
    const required = query.index === undefined ? smallest : buckets[0]
    // A named index has the objects of all namespaces: most of them are filtered out before the rest is sorted.
    const prefix = query.namespace ? `${query.namespace}/` : ''
    const keys: string[] = []
    for (const key of smallest) if (key.startsWith(prefix) && required?.has(key)) keys.push(key)
    return keys.sort()
  }

  /** The keys of a namespace, or of all if it is empty, whose label has one of the values. */
  #labelBucket({ key: label, operator, values }: Requirement, namespace: string): ReadonlySet<string> | undefined {
    if (operator !== '=' && operator !== '==' && operator !== 'in') return undefined
    const isScoped = namespace !== ''
    const id = `${isScoped} ${label}`
    let index = this.#labelIndexes.get(id)
    if (index === undefined) {
      if (this.#labelIndexes.size >= maxLabelIndexes) return undefined
      index = { label, isScoped, buckets: new IndexBuckets() }
      for (const [key, item] of this.#items) index.buckets.set(key, labelValues(this.#labels(item), key, index))
      this.#labelIndexes.set(id, index)
    }
    const { buckets } = index
    const bucketOf = (value: string): ReadonlySet<string> => buckets.keys(isScoped ? `${namespace}/${value}` : value)
    const [first, ...others] = values
    if (first === undefined) return undefined
    if (others.length === 0) return bucketOf(first)
    const union = new Set(bucketOf(first))
    for (const value of others) for (const match of bucketOf(value)) union.add(match)
    return union
  }

  #index(name: string): IndexBuckets {
    const index = this.#indexes.get(name)
    if (index !== undefined) return index.buckets
    const known = [...this.#indexes.keys()].map((other) => JSON.stringify(other)).join(', ')
    throw new TypeError(
      `Index ${JSON.stringify(name)} does not exist: add it with addIndexer. Existing indexes: ${known || 'none'}`,
    )
  }

  #reindex(key: string, item: Item<T>): void {
    for (const [name, { valuesOf, buckets }] of this.#indexes) {
      buckets.set(key, this.#values(name, valuesOf, key, item))
    }
    if (this.#labelIndexes.size === 0) return
    const labels = this.#labels(item)
    for (const index of this.#labelIndexes.values()) index.buckets.set(key, labelValues(labels, key, index))
  }

  #values(name: string, valuesOf: IndexFunction<T>, key: string, item: Item<T>): readonly string[] {
    try {
      return valuesOf(this.hot.read(item))
    } catch (error) {
      this.#onIndexError(error, name, key)
      return noValues
    }
  }

  /** The parsed form of an object that has left the store. */
  #decoded(item: Item<T>): T {
    return isEncoded(item) ? (this.hot.take(item) ?? item.decode()) : item
  }

  #labels(item: Item<T>): Readonly<Record<string, string>> | undefined {
    if (!isEncoded(item)) return item.metadata.labels
    const parsed = this.hot.peek(item)
    return parsed === undefined ? item.labels() : parsed.metadata.labels
  }
}

const noValues: readonly string[] = []

const rethrow = (error: unknown): never => {
  throw error
}

/** The value of an object in the index of a label. */
function labelValues(
  labels: Readonly<Record<string, string>> | undefined,
  key: string,
  { label, isScoped }: LabelIndex,
): readonly string[] {
  const value = labels?.[label]
  if (typeof value !== 'string') return noValues
  return [isScoped ? `${namespaceOf(key)}/${value}` : value]
}

/** The pool that a list was received into. It contains only the objects of the list, so the store can take it over. */
function poolOf(objects: readonly Item<KubeObject>[]): BytePool {
  const first = objects.find((item) => isEncoded(item))
  return (first === undefined ? undefined : BytePool.of(first)) ?? new BytePool()
}

function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')))
}
