import type { AnyKind, GroupKind, Infer, KubeObject } from '@kubewright/api'
import type { Duration, WaitOptions } from '@kubewright/base'
import type { EventHandler } from '../cache/informer/event-handler.ts'
import type { HandlerOptions, HandlerRegistration } from '../cache/informer/shared-informer.ts'
import type { ReflectorHealth } from '../cache/reflector/reflector-health.ts'
import type { Store } from '../cache/store/store.ts'

/** Which objects of a kind are to be cached. Leases of equal scope share one store. */
export interface CacheScope {
  /** Only these namespaces, one watch each; an empty list means all of them. @default those of the cache */
  readonly namespaces?: readonly string[] | undefined
  /** In the syntax of `labelSelector=`. @default everything */
  readonly labelSelector?: string | undefined
  /** In the syntax of `fieldSelector=`. @default everything */
  readonly fieldSelector?: string | undefined
}

/** A share in the cached objects of a kind: while it is held they are watched. Disposing it also removes its handlers. */
export interface CacheLease<T extends KubeObject = KubeObject> extends AsyncDisposable {
  /** The objects of all namespaces of the scope, as one store. */
  readonly store: Store<T>
  readonly hasSynced: boolean
  /** How the watches are doing; of several, the worst. */
  readonly health: ReflectorHealth
  /** Resolves when the store has the initial lists. */
  synced(options?: WaitOptions): Promise<void>
  /** Adds a handler that is told the objects of all namespaces of the scope. */
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): HandlerRegistration
  /** Gives the share back; with the last one the watches are stopped and the store dropped. */
  release(): Promise<void>
}

/** A store that has all objects of a resource within the namespaces of its cache. */
export interface CachedStore {
  /** The kind in whose version the objects are. */
  readonly kind: AnyKind
  /** Whether only the metadata of the objects is there. */
  readonly isMetadataOnly: boolean
  /** The namespaces whose objects it has; empty for all. */
  readonly namespaces: readonly string[]
  readonly store: Store<KubeObject>
  /** Brings an object into the form in which the store keeps those that the server sends. Does not change its argument. */
  shape(object: KubeObject): KubeObject
}

/** What a cache holds, for clients that read from it. */
export interface CacheContents {
  /** The stores that have all objects of a kind within the namespaces of the cache, in whatever version and form. */
  contents(type: GroupKind): readonly CachedStore[]
}

/** The cached objects of one API server, each kind and scope once. Kinds may be typed, dynamic or metadata only. */
export interface ObjectCache extends AsyncDisposable {
  /** Takes a share in the objects of a kind; they are watched as soon as the cache is started. */
  use<K extends AnyKind>(kind: K, scope?: CacheScope): CacheLease<Infer<K> & KubeObject>
  /** The store of a kind if its objects are watched in all namespaces of the cache without selectors, else undefined. */
  peek<K extends AnyKind>(kind: K): Store<Infer<K> & KubeObject> | undefined
  /** The health of every watch, by name, in order. */
  readonly health: ReadonlyMap<string, ReflectorHealth>
  start(): void
  /** Resolves when everything that is in use has its initial list. Rejects after `timeout`, naming what is missing and the cure. */
  waitForSync(options: { readonly timeout: Duration; readonly signal?: AbortSignal }): Promise<void>
}
