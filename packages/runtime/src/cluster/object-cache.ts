import type { AnyKind, GroupKind, Infer, KubeObject } from '@kubewright/api'
import type { Duration, WaitOptions } from '@kubewright/base'
import type { FindAbsence } from '../cache/informer/client-list-watch.ts'
import type { EventHandler } from '../cache/informer/event-handler.ts'
import type { HandlerOptions, HandlerRegistration } from '../cache/informer/shared-informer.ts'
import type { ReflectorHealth } from '../cache/reflector/reflector-health.ts'
import type { Store } from '../cache/store/store.ts'
import type { StoreSelection } from './selection.ts'

/** The scope of a lease. Leases of the same kind and scope share a store. */
export interface CacheScope {
  /** Only these namespaces, with one watch each; an empty list means all. @default those of the cache */
  readonly namespaces?: readonly string[] | undefined
  /** In the syntax of `labelSelector=`. @default all objects */
  readonly labelSelector?: string | undefined
  /** In the syntax of `fieldSelector=`. @default all objects */
  readonly fieldSelector?: string | undefined
}

/**
 * A share in the cached objects of a kind, which are watched as long as there are leases. Disposing the lease removes
 * its handlers.
 */
export interface CacheLease<T extends KubeObject = KubeObject> extends AsyncDisposable {
  /** The objects of all namespaces of the scope. */
  readonly store: Store<T>
  readonly hasSynced: boolean
  /** The health of the watches; with several watches, the worst. */
  readonly health: ReflectorHealth
  /** Resolves when the store has the initial lists. */
  synced(options?: WaitOptions): Promise<void>
  /** Adds a handler for the objects of all namespaces of the scope. */
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): HandlerRegistration
  /** Releases the lease. The last release stops the watches and drops the store. */
  release(): Promise<void>
}

/** A store of a cache, as clients read from it. */
export interface CachedStore {
  /** The kind whose version the objects have. */
  readonly kind: AnyKind
  /** Whether the store contains only the metadata of objects. */
  readonly isMetadataOnly: boolean
  /** The namespaces of the objects; empty for all. */
  readonly namespaces: readonly string[]
  /** Which objects of these namespaces the store contains. @default all */
  readonly selection?: StoreSelection | undefined
  readonly store: Store<KubeObject>
  /** Converts an object to the form in which the store holds it. Does not modify its argument. */
  shape(object: KubeObject): KubeObject
  /**
   * Announces an object that a write has returned, in the form of the store. If a list shows that the object was deleted
   * before the store received it, handlers receive its addition and its deletion.
   */
  announce(object: KubeObject): void
}

/** The contents of a cache, for clients that read from it. */
export interface CacheContents {
  /** The stores of a kind that can answer reads, in any version, form and selection. */
  contents(type: GroupKind): readonly CachedStore[]
}

/**
 * The cached objects of one API server, with one store for each kind and scope. Supports typed, dynamic and
 * metadata-only kinds.
 */
export interface ObjectCache extends AsyncDisposable {
  /** Takes a lease of the objects of a kind. They are watched once the cache is started. */
  use<K extends AnyKind>(kind: K, scope?: CacheScope): CacheLease<Infer<K> & KubeObject>
  /** The store of a kind; undefined unless its objects are watched in all namespaces of the cache without selectors. */
  peek<K extends AnyKind>(kind: K): Store<Infer<K> & KubeObject> | undefined
  /**
   * Tells without a request that a resource has no objects; undefined if it may have some, which is all that most caches can tell. A user of
   * many kinds can take their leases when the first objects exist.
   */
  absence: FindAbsence
  /** The health of every watch, by name, sorted. */
  readonly health: ReadonlyMap<string, ReflectorHealth>
  start(): void
  /**
   * Resolves when all stores in use have their initial list. Rejects after `timeout`; the message names what is missing
   * and the fix.
   */
  waitForSync(options: { readonly timeout: Duration; readonly signal?: AbortSignal | undefined }): Promise<void>
}
