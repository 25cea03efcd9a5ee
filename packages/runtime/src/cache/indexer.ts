import { type KubeObject, keyOf, type Requirement } from '@kubewright/api'
import { deepFreeze, SortedKeys } from '@kubewright/base'
import { IndexBuckets, type IndexFunction } from './index-buckets.ts'
import type { Store, StoreQuery } from './store.ts'

// Label keys that get an index of their own; selectors on further keys are answered by scanning.
const maxLabelIndexes = 32

/** Options of an {@link Indexer}. */
export interface IndexerOptions {
  /**
   * Told when an index function throws; the object is then stored and not found through that index. @default the error is thrown on
   */
  readonly onIndexError?: (error: unknown, index: string, key: string) => void
}

/**
 * A store that can be written to, with indexes. Namespaces need none, because keys are sorted; a label gets one when a selector
 * first asks for certain values of it. Every write leaves store and indexes in step.
 */
export class Indexer<T extends KubeObject> implements Store<T> {
  readonly #objects = new Map<string, T>()
  // Exactly the keys of #objects.
  #keys = new SortedKeys()
  readonly #indexes = new Map<string, IndexBuckets<T>>()
  readonly #labelIndexes = new Map<string, IndexBuckets<T>>()
  readonly #onIndexError: NonNullable<IndexerOptions['onIndexError']>
  #resourceVersion = ''

  constructor(indexers: Readonly<Record<string, IndexFunction<T>>> = {}, options: IndexerOptions = {}) {
    this.#onIndexError = options.onIndexError ?? rethrow
    for (const [name, valuesOf] of Object.entries(indexers)) this.addIndexer(name, valuesOf)
  }

  get size(): number {
    return this.#objects.size
  }

  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  has(key: string): boolean {
    return this.#objects.has(key)
  }

  keys(): string[] {
    return this.#scan(undefined)
  }

  list(query: StoreQuery = {}): T[] {
    const { namespace, selector } = query
    if (selector?.isNothing) return []
    const keys = this.#narrow(query) ?? this.#scan(namespace)
    const objects: T[] = []
    for (const key of keys) {
      const object = this.#objects.get(key)
      if (object === undefined) continue
      if (namespace !== undefined && (object.metadata.namespace ?? '') !== namespace) continue
      if (selector?.matches(object.metadata.labels) ?? true) objects.push(object)
    }
    return objects
  }

  addIndexer(name: string, valuesOf: IndexFunction<T>): void {
    if (this.#indexes.has(name)) throw new TypeError(`Cannot add index ${JSON.stringify(name)}: it exists already`)
    const guarded: IndexFunction<T> = (object) => {
      try {
        return valuesOf(object)
      } catch (error) {
        this.#onIndexError(error, name, keyOf(object))
        return noValues
      }
    }
    this.#indexes.set(name, this.#build(guarded))
  }

  byIndex(name: string, value: string): T[] {
    return this.list({ index: { name, value } })
  }

  indexValues(name: string): string[] {
    return this.#index(name).values()
  }

  /** Adds or replaces an object, frozen from now on, and returns the one that was there. */
  set(object: T): T | undefined {
    deepFreeze(object)
    const key = keyOf(object)
    const before = this.#objects.get(key)
    this.#objects.set(key, object)
    if (before === undefined) this.#keys.add(key)
    this.#reindex(key, before, object)
    return before
  }

  /** Removes an object and returns it, or undefined when there is none. */
  delete(key: string): T | undefined {
    const before = this.#objects.get(key)
    if (before === undefined) return undefined
    this.#objects.delete(key)
    this.#keys.delete(key)
    this.#reindex(key, before, undefined)
    return before
  }

  /** Swaps the whole content at once; of objects with equal keys the last one counts. */
  replace(objects: readonly T[], resourceVersion: string): void {
    this.#objects.clear()
    for (const object of objects) this.#objects.set(keyOf(object), deepFreeze(object) as T)
    this.#keys = new SortedKeys()
    for (const key of [...this.#objects.keys()].sort()) this.#keys.add(key)
    for (const index of this.#allIndexes()) {
      index.clear()
      for (const [key, object] of this.#objects) index.add(key, object)
    }
    this.#resourceVersion = resourceVersion
  }

  /** Notes that the store has reached a version. */
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
      const bucket = this.#labelBucket(requirement)
      if (bucket !== undefined) buckets.push(bucket)
    }
    if (buckets.length === 0) return undefined
    const smallest = buckets.reduce((least, bucket) => (bucket.size < least.size ? bucket : least))
    // The named index is not checked again by the caller, as labels and namespace are.
    const required = query.index === undefined ? smallest : buckets[0]
    return [...smallest].filter((key) => required?.has(key)).sort()
  }

  #labelBucket({ key, operator, values }: Requirement): ReadonlySet<string> | undefined {
    if (operator !== '=' && operator !== '==' && operator !== 'in') return undefined
    let index = this.#labelIndexes.get(key)
    if (index === undefined) {
      if (this.#labelIndexes.size >= maxLabelIndexes) return undefined
      index = this.#build(labelValue(key))
      this.#labelIndexes.set(key, index)
    }
    const [first, ...others] = values
    if (first === undefined) return undefined
    if (others.length === 0) return index.keys(first)
    const union = new Set(index.keys(first))
    for (const value of others) for (const match of index.keys(value)) union.add(match)
    return union
  }

  #build(valuesOf: IndexFunction<T>): IndexBuckets<T> {
    const index = new IndexBuckets(valuesOf)
    for (const [key, object] of this.#objects) index.add(key, object)
    return index
  }

  #index(name: string): IndexBuckets<T> {
    const index = this.#indexes.get(name)
    if (index !== undefined) return index
    const known = [...this.#indexes.keys()].map((other) => JSON.stringify(other)).join(', ')
    throw new TypeError(
      `Index ${JSON.stringify(name)} does not exist: add it with addIndexer, known are ${known || 'none'}`,
    )
  }

  #reindex(key: string, before: T | undefined, after: T | undefined): void {
    for (const index of this.#allIndexes()) {
      if (before !== undefined) index.remove(key, before)
      if (after !== undefined) index.add(key, after)
    }
  }

  *#allIndexes(): Generator<IndexBuckets<T>> {
    yield* this.#indexes.values()
    yield* this.#labelIndexes.values()
  }
}

const noValues: readonly string[] = []

const rethrow = (error: unknown): never => {
  throw error
}

function labelValue(label: string): IndexFunction<KubeObject> {
  return ({ metadata: { labels } }) => {
    const value = labels?.[label]
    return typeof value === 'string' ? [value] : noValues
  }
}
