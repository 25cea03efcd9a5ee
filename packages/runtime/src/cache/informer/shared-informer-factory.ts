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

/** Which objects of a kind are wanted. Leases of equal scope share an informer. */
export interface InformerScope {
  /** @default all namespaces */
  readonly namespace?: string
  /** In the syntax of `labelSelector=`. @default everything */
  readonly labelSelector?: string
  /** In the syntax of `fieldSelector=`. @default everything */
  readonly fieldSelector?: string
}

/** What a factory is made of. Either a client or a source is needed. */
export interface SharedInformerFactoryOptions {
  /** Gives access to all kinds. */
  readonly client?: Pick<ApiClient, 'encodedPage' | 'watch'>
  /** Gives access to one kind within a scope, instead of a client; called once for each informer. */
  readonly source?: (kind: AnyKind, scope: InformerScope) => ListWatch<KubeObject>
  /** What is wanted where a use does not say it: a filtered factory. @default everything */
  readonly scope?: InformerScope
  /** How often handlers that do not say it are told every object again. @default never */
  readonly resyncPeriod?: Duration
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  readonly metrics?: MetricSink
  /** Changes objects before they are stored, for instance to drop `metadata.managedFields`. */
  readonly transform?: (object: KubeObject) => KubeObject
  /** The transform of one kind, instead of the one above; undefined for none. */
  readonly transformOf?: (kind: AnyKind) => ((object: KubeObject) => KubeObject) | undefined
  /** Leaves `metadata.managedFields` out of what is stored, without parsing objects for it. @default false */
  readonly dropManagedFields?: boolean
  /** How many objects of one kind are kept parsed; see `IndexerOptions`. Undefined means the default. @default 4096 for each kind */
  readonly hotObjectsOf?: (kind: AnyKind) => number | undefined
  /** Limits and switches of all reflectors. By default watches may only send objects of the kind itself. */
  readonly reflector?: NonNullable<SharedInformerOptions<KubeObject>['reflector']>
}

/** A share in an informer: while it is held, the informer runs. Disposing it also removes the handlers added through it. */
export interface InformerLease<T extends KubeObject> extends AsyncDisposable {
  readonly informer: SharedInformer<T>
  readonly lister: Lister<T>
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): HandlerRegistration
  /** Gives the share back; with the last one the watch is stopped and its store dropped. */
  release(): Promise<void>
}

interface Shared {
  readonly informer: SharedInformer<KubeObject>
  leases: number
}

/**
 * One informer for each resource and scope, made when it is first needed and stopped when nobody needs it any more. Typed and dynamic
 * kinds of a resource share it; a metadata-only kind shares it too when it is there first, and else gets one that holds metadata alone.
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #options: SharedInformerFactoryOptions
  readonly #source: NonNullable<SharedInformerFactoryOptions['source']>
  readonly #clock: Clock
  // By identity of kind and scope; every entry has at least one lease.
  readonly #shared = new Map<string, Shared>()
  #started = false

  constructor(options: SharedInformerFactoryOptions) {
    const { client, source } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    if (source !== undefined) this.#source = source
    // The informers are made for the kinds that they hand out, so their objects are as general as the map of all informers.
    else if (client !== undefined) this.#source = (kind, scope) => clientListWatch(client, kind, scope)
    else throw new TypeError("Cannot make an informer factory as it has no 'client': nothing could be watched")
  }

  /** The health of every informer, by its name, in order. */
  get health(): ReadonlyMap<string, ReflectorHealth> {
    const inOrder = [...this.#shared].sort(([a], [b]) => (a < b ? -1 : 1))
    return new Map(inOrder.map(([name, { informer }]) => [name, informer.health]))
  }

  /** Takes a share in the informer of a kind; it runs as soon as the factory is started. */
  use<K extends AnyKind>(kind: K, scope: InformerScope = {}): InformerLease<Infer<K> & KubeObject> {
    type T = Infer<K> & KubeObject
    const narrowed = { ...this.#options.scope, ...scope }
    const whole = identity(kind, narrowed)
    const name = isMetadataOnly(kind) && !this.#shared.has(whole) ? `${whole}, metadata` : whole
    let shared = this.#shared.get(name)
    if (shared === undefined) {
      shared = { informer: this.#make(kind, narrowed), leases: 0 }
      this.#shared.set(name, shared)
      if (this.#started) shared.informer.start()
    }
    shared.leases++
    // The source was asked for this kind, so its objects are what the kind reads.
    const informer = shared.informer as unknown as SharedInformer<T>
    return this.#lease(name, shared, informer, new Lister(informer.store, { group: kind.group, resource: kind.plural }))
  }

  /** Starts what was asked for so far, and from now on whatever is asked for. */
  start(): this {
    this.#started = true
    for (const { informer } of this.#shared.values()) informer.start()
    return this
  }

  /**
   * Resolves when every informer has its initial list. After `timeout` it rejects, naming those that have not, why, and what to do.
   */
  async waitForSync(options: { readonly timeout: Duration; readonly signal?: AbortSignal }): Promise<void> {
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

  /** Stops all informers, whoever uses them, and resolves when nothing runs any more. */
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
  const { message = 'the initial list has not arrived', cure } = informer.health
  return `${name}: ${message}${cure === undefined ? '' : ` (${cure})`}`
}
