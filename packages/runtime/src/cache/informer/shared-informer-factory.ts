import { type AnyKind, formatGroupResource, type Infer, type KubeObject } from '@kubewright/api'
import {
  type Clock,
  type Duration,
  formatDuration,
  KubewrightError,
  type Logger,
  type MetricSink,
  nullLogger,
  type Random,
  systemClock,
  systemRandom,
  withDeadline,
} from '@kubewright/base'
import { type ApiClient, isMetadataOnly } from '@kubewright/client'
import type { ListWatch } from '../reflector/list-watch.ts'
import type { ReflectorHealth } from '../reflector/reflector-health.ts'
import { Lister } from '../store/lister.ts'
import { clientListWatch } from './client-list-watch.ts'
import type { EventHandler } from './event-handler.ts'
import { LeasedHandlers } from './leased-handlers.ts'
import { projectionOf } from './projection.ts'
import {
  type HandlerOptions,
  type HandlerRegistration,
  SharedInformer,
  type SharedInformerOptions,
} from './shared-informer.ts'

/** The scope of an informer. Leases of the same kind and scope share an informer. */
export interface InformerScope {
  /** @default all namespaces */
  readonly namespace?: string | undefined
  /** In the syntax of `labelSelector=`. @default all objects */
  readonly labelSelector?: string | undefined
  /** In the syntax of `fieldSelector=`. @default all objects */
  readonly fieldSelector?: string | undefined
}

/** Options of a {@link SharedInformerFactory}. Either `client` or `source` is required. */
export interface SharedInformerFactoryOptions {
  /** Lists and watches all kinds. */
  readonly client?: Pick<ApiClient, 'encodedPage' | 'watch'> | undefined
  /** Replaces the client: returns the source of one kind and scope. Called once for each informer. */
  readonly source?: ((kind: AnyKind, scope: InformerScope) => ListWatch<KubeObject>) | undefined
  /** The default scope of all informers. @default all objects */
  readonly scope?: InformerScope | undefined
  /** The default resync period of handlers. @default never */
  readonly resyncPeriod?: Duration | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's randomness */
  readonly random?: Random | undefined
  /** @default no log */
  readonly log?: Logger | undefined
  readonly metrics?: MetricSink | undefined
  /** Transforms objects before they are stored. */
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined
  /** Replaces `transform`: the transform of one kind, or undefined for none. */
  readonly transformOf?: ((kind: AnyKind) => ((object: KubeObject) => KubeObject) | undefined) | undefined
  /** Drops `metadata.managedFields` before objects are stored, without parsing them. @default false */
  readonly dropManagedFields?: boolean | undefined
  /** The number of objects of a kind whose parsed form is cached; see `IndexerOptions`. @default 4096 for each kind */
  readonly hotObjectsOf?: ((kind: AnyKind) => number | undefined) | undefined
  /** Options of all reflectors. By default, objects of another kind in a watch are dropped. */
  readonly reflector?: NonNullable<SharedInformerOptions<KubeObject>['reflector']> | undefined
}

/** A share in an informer, which runs as long as it has leases. Disposing the lease removes its handlers. */
export interface InformerLease<T extends KubeObject> extends AsyncDisposable {
  readonly informer: SharedInformer<T>
  readonly lister: Lister<T>
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): HandlerRegistration
  /** Releases the lease. The last release stops the watch and drops the store. */
  release(): Promise<void>
}

interface Shared {
  readonly informer: SharedInformer<KubeObject>
  leases: number
}

/**
 * Creates one informer for each resource and scope on first use, and stops it when its last lease is released. Typed
 * and dynamic kinds of a resource share an informer. A metadata-only kind shares a full informer if there is one;
 * otherwise it gets one that stores metadata only.
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #options: SharedInformerFactoryOptions
  readonly #source: NonNullable<SharedInformerFactoryOptions['source']>
  readonly #clock: Clock
  // By identity of kind and scope. Every entry has at least one lease.
  readonly #shared = new Map<string, Shared>()
  #started = false

  constructor(options: SharedInformerFactoryOptions) {
    const { client, source } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    if (source !== undefined) this.#source = source
    // Each informer is created for the kind that its lease hands out, so the general object type is safe here.
    else if (client !== undefined) this.#source = (kind, scope) => clientListWatch(client, kind, scope)
    else throw new TypeError("Cannot create an informer factory: pass a 'client' or a 'source'")
  }

  /** The health of every informer, by name, sorted. */
  get health(): ReadonlyMap<string, ReflectorHealth> {
    const inOrder = [...this.#shared].sort(([a], [b]) => (a < b ? -1 : 1))
    return new Map(inOrder.map(([name, { informer }]) => [name, informer.health]))
  }

  /** Takes a lease of the informer of a kind. The informer runs once the factory is started. */
  use<K extends AnyKind>(kind: K, scope: InformerScope = {}): InformerLease<Infer<K> & KubeObject> {
    type T = Infer<K> & KubeObject
    const narrowed = { ...this.#options.scope, ...scope }
    const fullName = identity(kind, narrowed)
    const name = isMetadataOnly(kind) && !this.#shared.has(fullName) ? `${fullName}, metadata` : fullName
    let shared = this.#shared.get(name)
    if (shared === undefined) {
      shared = { informer: this.#make(kind, narrowed), leases: 0 }
      this.#shared.set(name, shared)
      if (this.#started) shared.informer.start()
    }
    shared.leases++
    // The informer was created for this kind, so its objects have the type that the kind reads.
    const informer = shared.informer as unknown as SharedInformer<T>
    return this.#lease(name, shared, informer, new Lister(informer.store, { group: kind.group, resource: kind.plural }))
  }

  /** Starts all informers, including those that are created later. */
  start(): this {
    this.#started = true
    for (const { informer } of this.#shared.values()) informer.start()
    return this
  }

  /**
   * Resolves when every informer has its initial list. Rejects after `timeout`; the message names each missing list,
   * its problem and the fix.
   */
  async waitForSync(options: { readonly timeout: Duration; readonly signal?: AbortSignal | undefined }): Promise<void> {
    const { timeout, signal } = options
    const all = [...this.#shared.values()]
    const wait = (inner: AbortSignal) => Promise.all(all.map(({ informer }) => informer.synced({ signal: inner })))
    try {
      await withDeadline(this.#clock, timeout, 'sync of informers', wait, { signal })
    } catch (error) {
      if (signal?.aborted) throw error
      const missing = [...this.#shared].filter(([, { informer }]) => !informer.hasSynced).map(explain)
      const message = `Informers have not synced within ${formatDuration(timeout)}: ${missing.join('; ')}`
      throw new KubewrightError('KW_CACHE_NOT_SYNCED', message, { cause: error })
    }
  }

  /** Stops all informers regardless of leases, and resolves when nothing is running. */
  async shutDown(): Promise<void> {
    const all = [...this.#shared.values()]
    this.#shared.clear()
    await Promise.all(all.map(({ informer }) => informer.stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutDown()
  }

  #make(kind: AnyKind, scope: InformerScope): SharedInformer<KubeObject> {
    const {
      transformOf,
      random = systemRandom,
      log = nullLogger,
      metrics,
      reflector,
      dropManagedFields = false,
    } = this.#options
    const hotObjects = this.#options.hotObjectsOf?.(kind)
    const given = transformOf === undefined ? this.#options.transform : transformOf(kind)
    const keep = projectionOf(kind)?.keep
    const transform = keep && given ? (object: KubeObject) => keep(given(object)) : (keep ?? given)
    const namespace = scope.namespace === undefined ? {} : { namespace: scope.namespace }
    return new SharedInformer({
      clock: this.#clock,
      random,
      log,
      dropManagedFields,
      ...(metrics === undefined ? {} : { metrics }),
      ...(transform === undefined ? {} : { transform }),
      ...(hotObjects === undefined ? {} : { hotObjects }),
      source: this.#source(kind, scope),
      reflector: { expected: { apiVersion: kind.apiVersion, kind: kind.kind }, ...reflector },
      resource: { group: kind.group, version: kind.version, resource: kind.plural, ...namespace },
    })
  }

  #lease<T extends KubeObject>(
    name: string,
    shared: Shared,
    informer: SharedInformer<T>,
    lister: Lister<T>,
  ): InformerLease<T> {
    const handlers = new LeasedHandlers()
    const release = async (): Promise<void> => {
      if (!handlers.release() || --shared.leases > 0) return
      // After a shutdown the name may already belong to another informer.
      if (this.#shared.get(name) === shared) this.#shared.delete(name)
      await informer.stop()
    }
    const { resyncPeriod } = this.#options
    const addHandler: InformerLease<T>['addHandler'] = (handler, options) => {
      const all = { ...(resyncPeriod === undefined ? {} : { resyncPeriod }), ...options }
      return handlers.add(informer.addHandler(handler, all))
    }
    return { informer, lister, addHandler, release, [Symbol.asyncDispose]: release }
  }
}

function identity(kind: AnyKind, { namespace, labelSelector, fieldSelector }: InformerScope): string {
  const parts = [`${formatGroupResource({ group: kind.group, resource: kind.plural })} ${kind.version}`]
  if (namespace !== undefined) parts.push(`namespace ${namespace}`)
  if (labelSelector) parts.push(`labels ${labelSelector}`)
  if (fieldSelector) parts.push(`fields ${fieldSelector}`)
  const projection = projectionOf(kind)
  if (projection) parts.push(`only ${projection.paths.join(' ')}`)
  return parts.join(', ')
}

function explain([name, { informer }]: readonly [string, Shared]): string {
  const { message = 'the initial list has not arrived', fix } = informer.health
  return `${name}: ${message}${fix === undefined ? '' : ` (${fix})`}`
}
