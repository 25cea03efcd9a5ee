import type { KubeObject, Selector } from '@kubewright/api'
import type { IndexFunction } from './index-buckets.ts'

/** Which objects of a store are wanted. All conditions must hold. */
export interface StoreQuery {
  readonly namespace?: string
  readonly selector?: Selector
  /** A value of an index that was added before. */
  readonly index?: { readonly name: string; readonly value: string }
}

/**
 * The objects of one resource, for reading: no call touches the network. Everything handed out is deeply frozen and shared; change
 * a copy, for instance with `produce`. Lists are in the order of the keys, as the API server lists them.
 */
export interface Store<T extends KubeObject> {
  readonly size: number
  /** The version of the resource that the store has reached; empty before the first list. */
  readonly resourceVersion: string
  /** The object of a key (`namespace/name`, or `name`), or undefined. */
  get(key: string): T | undefined
  has(key: string): boolean
  keys(): string[]
  list(query?: StoreQuery): T[]
  /** Adds an index, also when the store is in use; the name must be new. */
  addIndexer(name: string, valuesOf: IndexFunction<T>): void
  /** The objects with a value in an index; throws when there is no index of that name. */
  byIndex(name: string, value: string): T[]
  /** All values of an index, in order; throws when there is no index of that name. */
  indexValues(name: string): string[]
}
