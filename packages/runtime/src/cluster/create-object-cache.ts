import {
  type AnyKind,
  formatGroupKind,
  type GroupKind,
  type Infer,
  type KubeObject,
  parseSelector,
} from '@kubewright/api'
import {
  type Clock,
  type Duration,
  deepCopy,
  type Logger,
  type MetricSink,
  type Random,
  type WaitOptions,
} from '@kubewright/base'
import { type ApiClient, isMetadataOnly } from '@kubewright/client'
import { clientListWatch, type FindAbsence } from '../cache/informer/client-list-watch.ts'
import type { EventHandler } from '../cache/informer/event-handler.ts'
import { LeasedHandlers } from '../cache/informer/leased-handlers.ts'
import { projectionOf } from '../cache/informer/projection.ts'
import type { HandlerOptions, HandlerRegistration } from '../cache/informer/shared-informer.ts'
import {
  type InformerLease,
  type InformerScope,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from '../cache/informer/shared-informer-factory.ts'
import { withoutManagedFields } from '../cache/informer/without-managed-fields.ts'
import type { Absence, ListWatch } from '../cache/reflector/list-watch.ts'
import type { ReflectorHealth } from '../cache/reflector/reflector-health.ts'
import type { Store } from '../cache/store/store.ts'
import { mergedRegistration, oneAtATime } from './merged-registration.ts'
import { MergedStore } from './merged-store.ts'
import type { CacheContents, CachedStore, CacheLease, CacheScope, ObjectCache } from './object-cache.ts'
import { type OutsideSelection, selectionOf } from './selection.ts'

/** Cache options of one kind, which override those of the cache. */
export interface KindCacheOptions {
  readonly kind: AnyKind
  /** @default those of the cache */
  readonly namespaces?: readonly string[] | undefined
  /**
   * Restricts all stores of the kind. Reads that can only concern these objects are answered from the cache; see
   * `outside` for the others. @default all objects
   */
  readonly labelSelector?: string | undefined
  /** Like `labelSelector`, for fields. @default all objects */
  readonly fieldSelector?: string | undefined
  /**
   * What a read does that may concern objects outside `namespaces`, `labelSelector` and `fieldSelector` while the kind is
   * watched. `live` reads from the server. `absent` treats objects outside as if they did not exist, so that all
   * reads are answered from the cache. @default 'live'
   */
  readonly outside?: OutsideSelection | undefined
  /** Transforms objects before they are stored, instead of the transform of the cache. */
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined
  /** The maximum number of objects whose parsed form is cached in addition to their bytes. @default 4096 */
  readonly hotObjects?: number | undefined
  /** How often all objects are redelivered to handlers. @default that of the cache */
  readonly resyncPeriod?: Duration | undefined
}

/** Options of {@link createObjectCache}. */
export interface ObjectCacheOptions {
  readonly client: Pick<ApiClient, 'encodedPage' | 'watch'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** The namespaces to watch; empty for all. @default all */
  readonly namespaces?: readonly string[] | undefined
  /** Transforms objects before they are stored. It may modify its argument and must be idempotent. */
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined
  /**
   * Drops `metadata.managedFields`, which can be half of an object. Code that extracts owned fields for an apply needs
   * them. @default false
   */
  readonly dropManagedFields?: boolean | undefined
  /** How often all objects are redelivered to handlers. @default never */
  readonly resyncPeriod?: Duration | undefined
  readonly byKind?: readonly KindCacheOptions[] | undefined
  /**
   * Tells without a request that a resource has no objects, which only the process of the server can know. Watches of such
   * resources start with their first object. @default all watches start at once
   */
  readonly absence?: FindAbsence | undefined
  /** Options of all reflectors. */
  readonly reflector?: SharedInformerFactoryOptions['reflector'] | undefined
}

/**
 * Creates a cache of the objects of one API server. A kind is watched once the cache is started and the kind is in use.
 */
export function createObjectCache(options: ObjectCacheOptions): ObjectCache & CacheContents {
  return new InformerCache(options)
}

type Transform = (object: KubeObject) => KubeObject

interface Scoped {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly labelSelector: string
  readonly fieldSelector: string
}

// The state that leases of the same kind and scope share.
interface Shared extends CachedStore {
  readonly scope: Scoped
  readonly parts: readonly InformerLease<KubeObject>[]
  /** False when only the server can tell which objects the store contains. */
  readonly isReadable: boolean
  leases: number
}

class InformerCache implements ObjectCache, CacheContents {
  readonly #options: ObjectCacheOptions
  readonly #factory: SharedInformerFactory
  readonly #overrides: ReadonlyMap<string, KindCacheOptions>
  readonly #shared = new Map<string, Shared>()
  // The entries of #shared that can answer reads, by group and kind.
  readonly #contents = new Map<string, readonly CachedStore[]>()

  constructor(options: ObjectCacheOptions) {
    const { client, clock, random, log, metrics, reflector, absence } = options
    this.#options = options
    this.#overrides = new Map((options.byKind ?? []).map((entry) => [formatGroupKind(entry.kind), entry]))
    this.#factory = new SharedInformerFactory({
      // The factory hands out each source with the type of the kind that it requested.
      source: (kind, scope) => clientListWatch(client, kind, scope, absence) as ListWatch<KubeObject>,
      clock,
      random,
      log,
      ...(metrics === undefined ? {} : { metrics }),
      ...(reflector === undefined ? {} : { reflector }),
      transformOf: (kind) => this.#transformOf(kind),
      hotObjectsOf: (kind) => this.#overrides.get(formatGroupKind(kind))?.hotObjects,
      dropManagedFields: options.dropManagedFields ?? false,
    })
  }

  get health(): ReadonlyMap<string, ReflectorHealth> {
    return this.#factory.health
  }

  start(): void {
    this.#factory.start()
  }

  waitForSync(options: { readonly timeout: Duration; readonly signal?: AbortSignal | undefined }): Promise<void> {
    return this.#factory.waitForSync(options)
  }

  use<K extends AnyKind>(kind: K, scope: CacheScope = {}): CacheLease<Infer<K> & KubeObject> {
    const scoped = this.#scoped(kind, scope)
    const name = isMetadataOnly(kind) && !this.#shared.has(scoped.name) ? `${scoped.name}, metadata` : scoped.name
    let shared = this.#shared.get(name)
    if (shared === undefined) {
      shared = this.#share(kind, scoped)
      this.#shared.set(name, shared)
      // A projection cannot serve reads of the full kind.
      if (projectionOf(kind) === undefined && shared.isReadable)
        this.#contents.set(formatGroupKind(kind), [...this.contents(kind), shared])
    }
    shared.leases++
    // The store contains objects of this kind.
    return this.#lease(name, shared) as unknown as CacheLease<Infer<K> & KubeObject>
  }

  peek<K extends AnyKind>(kind: K): Store<Infer<K> & KubeObject> | undefined {
    const { name } = this.#scoped(kind, {})
    const shared = this.#shared.get(name) ?? (isMetadataOnly(kind) ? this.#shared.get(`${name}, metadata`) : undefined)
    if (shared === undefined || !this.#isWhole(kind, shared.scope)) return undefined
    return shared.store as unknown as Store<Infer<K> & KubeObject>
  }

  absence(...[resource, signal]: Parameters<FindAbsence>): Absence | undefined {
    return this.#options.absence?.(resource, signal)
  }

  contents(type: GroupKind): readonly CachedStore[] {
    return this.#contents.get(formatGroupKind(type)) ?? []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shared.clear()
    this.#contents.clear()
    await this.#factory.shutDown()
  }

  #share(kind: AnyKind, scope: Scoped): Shared {
    const { namespaces, labelSelector, fieldSelector } = scope
    const selectors: InformerScope = {
      ...(labelSelector === '' ? {} : { labelSelector }),
      ...(fieldSelector === '' ? {} : { fieldSelector }),
    }
    const scopes = namespaces.length === 0 ? [selectors] : namespaces.map((namespace) => ({ ...selectors, namespace }))
    const parts = scopes.map((part) => this.#factory.use(kind, part) as InformerLease<KubeObject>)
    const transform = this.#transformOf(kind)
    const { dropManagedFields } = this.#options
    const ofKind = this.#overrides.get(formatGroupKind(kind))
    // `absent` concerns the objects that the settings of the kind exclude, not those that a single watch excludes.
    const outside = scope.name === this.#scoped(kind, {}).name ? (ofKind?.outside ?? 'live') : 'live'
    const selection = selectionOf(kind, labelSelector, fieldSelector, outside)
    const drop = dropManagedFields ? withoutManagedFields : (object: KubeObject) => object
    return {
      kind,
      isMetadataOnly: isMetadataOnly(kind),
      namespaces,
      scope,
      parts,
      selection: selection === 'unknown' ? undefined : selection,
      isReadable: selection !== 'unknown',
      leases: 0,
      store: storeOf(parts, namespaces),
      shape: transform === undefined ? drop : (object) => transform(deepCopy(drop(object))),
      announce: (object) => {
        const part = namespaces.length === 0 ? parts[0] : parts[namespaces.indexOf(object.metadata.namespace ?? '')]
        part?.informer.announce(object)
      },
    }
  }

  #lease(name: string, shared: Shared): CacheLease {
    const handlers = new LeasedHandlers()
    const release = async (): Promise<void> => {
      if (!handlers.release() || --shared.leases > 0) return
      // After the cache was disposed, the name may belong to a newer entry.
      if (this.#shared.get(name) === shared) {
        this.#shared.delete(name)
        const others = this.contents(shared.kind).filter((other) => other !== shared)
        this.#contents.set(formatGroupKind(shared.kind), others)
      }
      await Promise.all(shared.parts.map((part) => part.release()))
    }
    const addHandler = (handler: EventHandler<KubeObject>, options: HandlerOptions = {}): HandlerRegistration => {
      const resyncPeriod = options.resyncPeriod ?? this.#resyncPeriod(shared.kind)
      const all = { ...options, ...(resyncPeriod === undefined ? {} : { resyncPeriod }) }
      return handlers.add(addTo(shared.parts, handler, all))
    }
    return new Lease(shared, addHandler, release)
  }

  #scoped(kind: AnyKind, scope: CacheScope): Scoped {
    const own = this.#overrides.get(formatGroupKind(kind))
    const wanted = scope.namespaces ?? own?.namespaces ?? this.#options.namespaces ?? []
    const namespaces = kind.scope === 'Cluster' ? [] : [...new Set(wanted)].sort()
    const labelSelector = parseSelector(joined(own?.labelSelector, scope.labelSelector)).toString()
    const fieldSelector = joined(own?.fieldSelector, scope.fieldSelector)
    const kept = projectionOf(kind)?.paths.join(' ') ?? ''
    const parts = [formatGroupKind(kind), kind.version, namespaces.join(' '), labelSelector, fieldSelector, kept]
    return { name: parts.join('\n'), namespaces, labelSelector, fieldSelector }
  }

  #isWhole(kind: AnyKind, scope: Scoped): boolean {
    return scope.labelSelector === '' && scope.fieldSelector === '' && scope.name === this.#scoped(kind, {}).name
  }

  #resyncPeriod(kind: AnyKind): Duration | undefined {
    return this.#overrides.get(formatGroupKind(kind))?.resyncPeriod ?? this.#options.resyncPeriod
  }

  #transformOf(kind: AnyKind): Transform | undefined {
    return this.#overrides.get(formatGroupKind(kind))?.transform ?? this.#options.transform
  }
}

/** A class, because object literals with accessors take several times the memory, and a control plane has more than a hundred. */
class Lease implements CacheLease {
  readonly store: CacheLease['store']
  readonly addHandler: CacheLease['addHandler']
  readonly release: CacheLease['release']
  /** A function of its own, like the two above, so that callers may take it from the lease. */
  readonly synced = async (options: WaitOptions = {}): Promise<void> => {
    await Promise.all(this.#parts.map(({ informer }) => informer.synced(options)))
  }

  readonly #parts: readonly InformerLease<KubeObject>[]

  constructor(
    { store, parts }: Pick<Shared, 'store' | 'parts'>,
    addHandler: CacheLease['addHandler'],
    release: CacheLease['release'],
  ) {
    this.store = store
    this.addHandler = addHandler
    this.release = release
    this.#parts = parts
  }

  get hasSynced(): boolean {
    return this.#parts.every(({ informer }) => informer.hasSynced)
  }

  get health(): ReflectorHealth {
    return this.#parts.map(({ informer }) => informer.health).reduce(worse)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release()
  }
}

function storeOf(parts: readonly InformerLease<KubeObject>[], namespaces: readonly string[]): Store<KubeObject> {
  const [first, ...others] = parts.map(({ informer }) => informer.store)
  if (first !== undefined && others.length === 0) return first
  return new MergedStore(new Map([first!, ...others].map((store, index) => [namespaces[index]!, store])))
}

function addTo(
  parts: readonly InformerLease<KubeObject>[],
  handler: EventHandler<KubeObject>,
  options: HandlerOptions,
): HandlerRegistration {
  const [first, ...others] = parts
  if (first !== undefined && others.length === 0) return first.informer.addHandler(handler, options)
  const shared = oneAtATime(handler)
  return mergedRegistration(parts.map(({ informer }) => informer.addHandler(shared, options)))
}

const badness: Readonly<Record<ReflectorHealth['state'], number>> = { watching: 0, starting: 1, stopped: 2, failing: 3 }

const worse = (a: ReflectorHealth, b: ReflectorHealth): ReflectorHealth => (badness[b.state] > badness[a.state] ? b : a)

const joined = (...selectors: readonly (string | undefined)[]): string => selectors.filter(Boolean).join(',')
