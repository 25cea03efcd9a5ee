import { formatGroupResource, type KubeObject } from '@kubewright/api'
import {
  abortable,
  CaughtError,
  type Clock,
  Deferred,
  type Duration,
  every,
  type Logger,
  linkSignals,
  type MetricSink,
  onAbort,
  type Random,
  type Timer,
  toMillis,
  type WaitOptions,
} from '@kubewright/base'
import { DeltaFifo, transformItem } from '../reflector/delta-fifo.ts'
import type { ListWatch } from '../reflector/list-watch.ts'
import { Reflector, type ReflectorOptions } from '../reflector/reflector.ts'
import type { ReflectedResource, ReflectorHealth } from '../reflector/reflector-health.ts'
import type { IndexFunction } from '../store/index-buckets.ts'
import { Indexer, type StoreStats } from '../store/indexer.ts'
import { type Item, isEncoded } from '../store/item.ts'
import type { Store } from '../store/store.ts'
import { AnnouncedObjects } from './announced-objects.ts'
import { applyDelta, initialChanges } from './change.ts'
import type { EventHandler } from './event-handler.ts'
import { HandlerQueue } from './handler-queue.ts'
import { type InformerMetrics, informerMetricNames } from './informer-metrics.ts'
import { withoutManagedFields } from './without-managed-fields.ts'

/** Options of a {@link SharedInformer}. */
export interface SharedInformerOptions<T extends KubeObject> {
  readonly source: ListWatch<T>
  readonly resource: ReflectedResource
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  readonly indexers?: Readonly<Record<string, IndexFunction<T>>> | undefined
  /** Transforms objects before they are stored; see `DeltaFifoOptions`. */
  readonly transform?: ((object: T) => T) | undefined
  /** Drops `metadata.managedFields`, often half of an object's size, before it is stored. @default false */
  readonly dropManagedFields?: boolean | undefined
  /** The maximum number of encoded objects whose parsed form is cached; see `IndexerOptions`. */
  readonly hotObjects?: number | undefined
  /** Options of the reflector. */
  readonly reflector?:
    | Partial<
        Omit<
          ReflectorOptions<T>,
          'source' | 'target' | 'resource' | 'clock' | 'random' | 'log' | 'onHealth' | 'prepare'
        >
      >
    | undefined
}

/** Options of a handler. */
export interface HandlerOptions {
  /** The `handler` label of its metrics. @default the number of handlers added before */
  readonly name?: string | undefined
  /**
   * How often all objects are redelivered to the handler as updates without change. At least a second. @default never
   */
  readonly resyncPeriod?: Duration | undefined
  /** With this many pending changes or more, changes of the same key are joined. @default 1024 */
  readonly coalesceAfter?: number | undefined
}

/** The registration of a handler. Disposing it removes the handler. */
export interface HandlerRegistration extends Disposable {
  /** Resolves when the handler has received the initial list. Rejects when it is removed earlier. */
  readonly synced: Promise<void>
  readonly hasSynced: boolean
  /** The number of changes that wait for the handler. */
  readonly pending: number
  /** How long the oldest pending change has waited, in milliseconds. */
  readonly lag: number
  remove(): void
}

interface Listener<T> {
  readonly queue: HandlerQueue<T>
  // Whether the handler is due for a redelivery of all objects.
  resyncDue: boolean
  // Requests redeliveries; undefined without a resync period.
  timer: Timer | undefined
}

/**
 * One watch and one store of a resource, shared by any number of handlers and readers.
 *
 * - The store is updated before handlers are called; a list updates it as a whole.
 * - A handler that is added later first receives every object, as part of its initial list.
 * - Each handler receives changes in order and independently of the others; see `EventHandler`.
 */
export class SharedInformer<T extends KubeObject> implements AsyncDisposable {
  readonly #options: SharedInformerOptions<T>
  readonly #store: Indexer<T>
  readonly #announced: AnnouncedObjects<T>
  readonly #fifo: DeltaFifo<T>
  readonly #reflector: Reflector<T>
  readonly #metrics: InformerMetrics
  readonly #listeners = new Set<Listener<T>>()
  readonly #synced = new Deferred()
  readonly #stop = linkSignals()
  #handlersMade = 0
  // Set by the first list and never reset.
  #populated = false
  #running: Promise<void> | undefined

  constructor(options: SharedInformerOptions<T>) {
    const { source, resource, clock, random, log, hotObjects } = options
    this.#options = options
    // An index function that fails for one object must not stop the informer.
    this.#store = new Indexer(options.indexers, {
      onIndexError: (error, index, key) => log.error(error, 'Index function failed', { index, key }),
      ...(hotObjects === undefined ? {} : { hotObjects }),
    })
    this.#announced = new AnnouncedObjects(this.#store)
    this.#fifo = new DeltaFifo()
    this.#reflector = new Reflector({
      ...options.reflector,
      source,
      resource,
      clock,
      random,
      log,
      target: this.#fifo,
      prepare: preparation(options),
      onHealth: (health) => this.#onHealth(health),
    })
    const { group, version, resource: plural, namespace = '' } = resource
    this.#metrics = {
      sink: options.metrics,
      labels: Object.freeze({ name: formatGroupResource(resource), group, version, resource: plural, namespace }),
    }
    // Prevents an unhandled rejection: callers may ignore `synced`.
    this.#synced.promise.catch(() => undefined)
  }

  /** The objects; empty until the first list. */
  get store(): Store<T> {
    return this.#store
  }

  /** The memory use of the store. */
  get stats(): StoreStats {
    return this.#store.stats
  }

  get health(): ReflectorHealth {
    return this.#reflector.health
  }

  /** Whether the store has the initial list. */
  get hasSynced(): boolean {
    return this.#populated
  }

  /** The number of handlers. */
  get handlers(): number {
    return this.#listeners.size
  }

  /** Resolves when the store has the initial list. Rejects when the informer is stopped earlier. */
  synced(options: WaitOptions = {}): Promise<void> {
    return abortable(this.#synced.promise, options.signal)
  }

  /**
   * Puts objects from an earlier run into the store, before the informer is started. Handlers receive a deletion for
   * each seeded object that the first list does not contain.
   */
  seed(objects: readonly T[]): this {
    if (this.#running !== undefined) {
      throw new TypeError(`Cannot seed informer of ${formatGroupResource(this.#options.resource)}: it was started`)
    }
    for (const object of objects) this.#store.set(object)
    return this
  }

  /**
   * Announces an object that a write of this process has returned. If a list shows that the object was deleted before
   * the watch delivered it, handlers receive its addition and its deletion.
   */
  announce(object: T): void {
    if (this.#populated) this.#announced.announce(object)
  }

  /** Starts to list and watch. Does nothing when it has started. A stopped informer cannot be started again. */
  start(options: WaitOptions = {}): this {
    if (this.#stop.aborted) {
      throw new TypeError(`Cannot start informer of ${formatGroupResource(this.#options.resource)}: it was stopped`)
    }
    this.#running ??= this.#run(options.signal)
    return this
  }

  /** Stops the watch and all deliveries; resolves when nothing is running. The store keeps its objects. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error(`Informer of ${formatGroupResource(this.#options.resource)} was stopped`))
    await this.#running
    this.#end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Adds a handler, at any time. */
  addHandler(handler: EventHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { clock, log } = this.#options
    const { coalesceAfter = 1024, resyncPeriod } = options
    const { sink, labels } = this.#metrics
    const metrics = {
      sink,
      labels: Object.freeze({ ...labels, handler: options.name ?? String(this.#handlersMade++) }),
    }
    const queue = new HandlerQueue<T>({ handler, clock, log, metrics, coalesceAfter })
    const listener: Listener<T> = { queue, resyncDue: false, timer: undefined }
    // No await from here to the last line: the handler must not miss a change between the snapshot of the store and its
    // registration.
    if (this.hasSynced) {
      for (const change of initialChanges(this.#store)) queue.push(change)
      queue.markInitialEnd()
    }
    const requestResync = (): void => {
      listener.resyncDue = true
      this.#fifo.resync()
    }
    const period = resyncPeriod === undefined ? 0 : Math.max(1000, toMillis(resyncPeriod))
    // A handler added after the stop receives nothing.
    if (period > 0 && !this.#stop.aborted) {
      listener.timer = every(clock, period, requestResync, 'informer resync')
    }
    const remove = (): void => {
      listener.timer?.cancel()
      queue.close()
      this.#listeners.delete(listener)
    }
    this.#listeners.add(listener)
    return new Registration(queue, remove)
  }

  async #run(parent: AbortSignal | undefined): Promise<void> {
    const stopFollowing = onAbort(parent, () => this.#stop.abort(parent?.reason))
    const reflecting = this.#reflector.run(this.#stop.signal)
    try {
      for (;;) {
        await this.#fifo.available({ signal: this.#stop })
        for (let delta = this.#fifo.pop(); delta !== undefined; delta = this.#fifo.pop()) this.#process(delta)
        this.#report()
      }
    } catch (error) {
      // The loop normally ends by abort. Any other error is a bug here and must be visible.
      if (!this.#stop.aborted) {
        this.#options.log.error(error, 'Informer stopped: a delta could not be stored')
        this.#stop.abort(error)
      }
    }
    await reflecting
    this.#end()
    stopFollowing()
  }

  // No await: the store and the queues of the handlers change together.
  #process(delta: NonNullable<ReturnType<DeltaFifo<T>['pop']>>): void {
    const first = delta.type === 'Replaced' && !this.#populated
    const applied = applyDelta(this.#store, delta, first)
    const missed = this.#announced.received(delta)
    const changes = missed.length === 0 ? applied : [...missed, ...applied]
    const now = this.#options.clock.monotonic()
    for (const listener of this.#listeners) {
      for (const change of changes) if (!change.sync || listener.resyncDue) listener.queue.push(change, now)
      if (first) listener.queue.markInitialEnd()
      if (delta.type === 'Sync') listener.resyncDue = false
    }
    if (first) {
      this.#populated = true
      this.#synced.resolve()
    }
    if (delta.type === 'Replaced') this.#metrics.sink?.add(informerMetricNames.relists, this.#metrics.labels, 1)
  }

  #report(): void {
    const { sink, labels } = this.#metrics
    if (sink === undefined) return
    sink.set(informerMetricNames.queuedItems, labels, this.#fifo.size)
    sink.set(informerMetricNames.storeObjects, labels, this.#store.size)
    sink.set(informerMetricNames.storeBytes, labels, this.#store.stats.bytes)
    const version = Number(this.#store.resourceVersion)
    if (Number.isFinite(version)) sink.set(informerMetricNames.storeResourceVersion, labels, version)
  }

  #onHealth(health: ReflectorHealth): void {
    if (health.state === 'failing') this.#metrics.sink?.add(informerMetricNames.failures, this.#metrics.labels, 1)
  }

  #end(): void {
    for (const { queue, timer } of this.#listeners) {
      timer?.cancel()
      queue.close()
    }
    if (!this.#synced.settled) {
      const name = formatGroupResource(this.#options.resource)
      this.#synced.reject(new CaughtError(`Informer of ${name} was stopped before it had synced`))
    }
  }
}

/** The function that is applied to each object on arrival. */
function preparation<T extends KubeObject>(options: SharedInformerOptions<T>): (item: Item<T>) => Item<T> {
  const transform = transformItem(options.transform)
  if (!options.dropManagedFields) return transform
  return (item) => transform(isEncoded(item) ? item.withoutManagedFields() : withoutManagedFields(item))
}

/** A class, because object literals with accessors take several times the memory, and a control plane has more than a hundred. */
class Registration<T> implements HandlerRegistration {
  readonly remove: () => void
  readonly #queue: HandlerQueue<T>

  constructor(queue: HandlerQueue<T>, remove: () => void) {
    this.#queue = queue
    this.remove = remove
  }

  get synced(): Promise<void> {
    return this.#queue.synced
  }

  get hasSynced(): boolean {
    return this.#queue.hasSynced
  }

  get pending(): number {
    return this.#queue.pending
  }

  get lag(): number {
    return this.#queue.lag
  }

  [Symbol.dispose](): void {
    this.remove()
  }
}
