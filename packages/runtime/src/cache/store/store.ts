import type { KubeObject, Selector } from '@kubewright/api'
import type { IndexFunction } from './index-buckets.ts'

/** Selects objects of a store. All conditions must hold. */
export interface StoreQuery {
  readonly namespace?: string | undefined
  readonly selector?: Selector | undefined
  /** A value in an index that was added with `addIndexer`. */
  readonly index?: { readonly name: string; readonly value: string } | undefined
}

/**
 * The objects of one resource, read-only. No call sends a request. Returned objects are deeply frozen and shared
 * between readers; to change one, copy it, for example with `deepCopy`. Lists are ordered by key, as the API
 * server orders them.
 */
export interface Store<T extends KubeObject> {
  readonly size: number
  /** The resource version that the store has reached; empty before the first list. */
  readonly resourceVersion: string
  /** The object with a key (`namespace/name` or `name`); undefined if there is none. */
  get(key: string): T | undefined
  has(key: string): boolean
  keys(): string[]
  list(query?: StoreQuery): T[]
  /** Adds an index, at any time. The name must be unused. */
  addIndexer(name: string, valuesOf: IndexFunction<T>): void
  /** The objects with a value in an index. Throws when the index does not exist. */
  byIndex(name: string, value: string): T[]
  /** All values of an index, sorted. Throws when the index does not exist. */
  indexValues(name: string): string[]
}
