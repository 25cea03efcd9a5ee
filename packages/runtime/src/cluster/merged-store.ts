import type { KubeObject } from '@kubewright/api'
import type { IndexFunction } from '../cache/store/index-buckets.ts'
import type { Store, StoreQuery } from '../cache/store/store.ts'
import { oldestVersion } from '../cache/store/version-order.ts'

/** A read-only view of the stores of several namespaces. Holds no objects itself. */
export class MergedStore<T extends KubeObject> implements Store<T> {
  // Ordered by the keys of their objects: some characters of names sort before the slash.
  readonly #stores: ReadonlyMap<string, Store<T>>

  constructor(stores: ReadonlyMap<string, Store<T>>) {
    const prefix = ([namespace]: readonly [string, unknown]): string => `${namespace}/`
    this.#stores = new Map([...stores].sort((a, b) => (prefix(a) < prefix(b) ? -1 : 1)))
  }

  get size(): number {
    return this.#all.reduce((sum, store) => sum + store.size, 0)
  }

  /** The version that all stores have reached; empty until each has its first list. */
  get resourceVersion(): string {
    return oldestVersion(this.#all.map((store) => store.resourceVersion))
  }

  get(key: string): T | undefined {
    return this.of(key)?.get(key)
  }

  has(key: string): boolean {
    return this.of(key)?.has(key) ?? false
  }

  keys(): string[] {
    return this.#all.flatMap((store) => store.keys())
  }

  list(query: StoreQuery = {}): T[] {
    const { namespace = '' } = query
    if (namespace !== '') return this.#stores.get(namespace)?.list(query) ?? []
    return this.#all.flatMap((store) => store.list(query))
  }

  addIndexer(name: string, valuesOf: IndexFunction<T>): void {
    for (const store of this.#all) store.addIndexer(name, valuesOf)
  }

  byIndex(name: string, value: string): T[] {
    return this.list({ index: { name, value } })
  }

  indexValues(name: string): string[] {
    return [...new Set(this.#all.flatMap((store) => store.indexValues(name)))].sort()
  }

  /** The store for the namespace of a key; undefined when there is none. */
  of(key: string): Store<T> | undefined {
    return this.#stores.get(key.slice(0, Math.max(0, key.indexOf('/'))))
  }

  get #all(): Store<T>[] {
    return [...this.#stores.values()]
  }
}
