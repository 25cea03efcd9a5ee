import { isDeleting } from '@kubewright/api'
import {
  Deferred,
  KubewrightError,
  type LinkedController,
  linkSignals,
  onAbort,
  toMillis,
  type WaitOptions,
} from '@kubewright/base'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import { PriorityQueue } from '../queue/priority-queue.ts'
import type { Queue, QueueSnapshot } from '../queue/queue.ts'
import { itemExponentialRateLimiter, withJitter } from '../queue/rate-limiter.ts'
import { WorkQueue } from '../queue/work-queue.ts'
import { ControllerMetrics } from './controller-metrics.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { ControllerRunner, ReconcileRecord } from './controller-runner.ts'
import { DynamicWatches } from './dynamic-watches.ts'
import type { KeyController, KeyReconciler } from './key-controller.ts'
import { Pace } from './pace.ts'
import { ReconcileHistory } from './reconcile-history.ts'
import { ResultHandler } from './result-handler.ts'
import { parseClusterKey } from './sources/cluster-source.ts'
import type { KeySink } from './sources/source.ts'
import { SourceSet } from './sources/source-set.ts'
import { Workers } from './workers.ts'

/** One call of `work`. */
interface Session {
  /** Aborts the running reconciles. */
  readonly abort: LinkedController
  readonly ended: Deferred
}

/** The implementation of {@link ControllerRunner}. */
export class RunningController implements ControllerRunner {
  readonly name: string
  readonly needsLeader: boolean
  readonly #controller: KeyController
  readonly #parts: ControllerParts
  readonly #queue: Queue
  readonly #history: ReconcileHistory
  readonly #workers: Workers
  readonly #sources: SourceSet
  readonly #sink: KeySink
  readonly #watches: DynamicWatches
  readonly #gateListener: Disposable | undefined
  // Created by the first start and used in all sessions.
  #reconcile: KeyReconciler | undefined
  #startFailure: Error | undefined
  // Set while work() runs.
  #session: Session | undefined
  // Whether there was an earlier session.
  #worked = false
  #disposed = false

  constructor(controller: KeyController, parts: ControllerParts) {
    const { name, kind, concurrency, hangAfter = '1m', hotLoop, timeout } = controller
    const { clock, keyGate, tracer, events, cluster } = parts
    const random = parts.random.fork(`controller ${name}`)
    const names = kind === undefined ? {} : { controllerGroup: kind.group, controllerKind: kind.kind }
    const log = parts.log.withValues({ controller: name, ...names })
    this.name = name
    this.needsLeader = controller.needsLeader
    this.#controller = controller
    this.#parts = { ...parts, log }
    const limiter = controller.rateLimiter?.({ clock, random }) ?? withJitter(itemExponentialRateLimiter(), random)
    const queueOptions = { clock, name, metrics: parts.metrics, rateLimiter: limiter }
    const queue = controller.queue === 'classic' ? new WorkQueue(queueOptions) : new PriorityQueue(queueOptions)
    const metrics = new ControllerMetrics(parts.metrics, name, concurrency)
    this.#sink = {
      controller: name,
      add: (key, options) => {
        const wait = pace.afterAdd(key)
        if (wait > 0) queue.addAfter(key, wait, options)
        else queue.add(key, options)
      },
      addAfter: (key, delay, options) => queue.addAfter(key, Math.max(toMillis(delay), pace.untilNext(key)), options),
    }
    const clusters = parts.clusters ?? only(cluster)
    this.#watches = new DynamicWatches(this.#parts, this.#sink)
    const host = {
      controller: name,
      kind,
      clock,
      random,
      client: cluster.client,
      events,
      log,
      cluster,
      clusters,
      watches: this.#watches,
      tracer,
    }
    const history = new ReconcileHistory(log)
    const isDeleted = (key: string): boolean => this.#isDeleted(key)
    const pace = new Pace(clock, controller.debounce, controller.minInterval)
    const results = new ResultHandler({ queue, limiter, random, metrics, isDeleted, pace })
    const watched = { timeout, hangAfter, hotLoop }
    this.#queue = queue
    this.#history = history
    this.#workers = new Workers({
      host,
      queue,
      results,
      metrics,
      history,
      tracer,
      keyGate,
      concurrency,
      pace,
      ...watched,
    })
    this.#sources = new SourceSet(controller, this.#parts)
    this.#gateListener = keyGate?.onChange(() => this.#rescan())
  }

  async warmUp(options: WaitOptions = {}): Promise<void> {
    this.#start()
    await this.#sources.synced(options)
  }

  async work(options: { readonly drain: AbortSignal; readonly abort: AbortSignal }): Promise<void> {
    const { drain, abort } = options
    if (this.#session !== undefined) {
      throw new KubewrightError('KW_CONTROLLER_RUNNING', `Cannot run controller "${this.name}": it is already running`)
    }
    const session: Session = { abort: linkSignals(abort), ended: new Deferred() }
    this.#session = session
    try {
      await this.warmUp({ signal: drain })
      if (!drain.aborted && !this.#disposed) await this.#workUntil(drain, session)
    } catch (error) {
      // A stop during the warm-up is a normal end.
      if (!drain.aborted) throw error
    } finally {
      this.#session = undefined
      session.abort[Symbol.dispose]()
      session.ended.resolve()
    }
  }

  problems(): readonly string[] {
    return [
      ...(this.#startFailure === undefined ? [] : [this.#startFailure.message]),
      ...this.#sources.problems(),
      ...this.#workers.problems(),
    ]
  }

  get isPaused(): boolean {
    return this.#workers.isPaused
  }

  pause(): void {
    if (!this.isPaused) this.#parts.log.warn('Controller paused: keys stay in the queue until it is resumed')
    this.#workers.pause()
  }

  step(): void {
    this.#workers.step()
  }

  resume(): void {
    if (this.isPaused) this.#parts.log.info('Controller resumed')
    this.#workers.resume()
  }

  queue(): QueueSnapshot {
    return this.#queue.snapshot()
  }

  recent(): readonly ReconcileRecord[] {
    return this.#history.recent()
  }

  onReconciled(listener: (record: ReconcileRecord) => void): Disposable {
    return this.#history.listen(listener)
  }

  reportRunning(): void {
    this.#queue.reportRunning()
  }

  // The order matters: no new keys, then no running reconciles, then the queue.
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    this.#gateListener?.[Symbol.dispose]()
    this.#workers.stop()
    this.#session?.abort.abort(new KubewrightError('KW_CONTROLLER_RUNNING', `Controller "${this.name}" was disposed`))
    await this.#sources[Symbol.asyncDispose]()
    await this.#session?.ended.promise
    await this.#watches[Symbol.asyncDispose]()
    await this.#queue.shutDown({ pending: 'drop' })
  }

  /** Creates the reconciler and starts the sources. Idempotent; may be called again after a failure. */
  #start(): void {
    if (this.#disposed) {
      throw new KubewrightError('KW_CONTROLLER_RUNNING', `Cannot run controller "${this.name}": it was disposed`)
    }
    try {
      this.#reconcile ??= this.#controller.start(this.#parts)
      this.#sources.start(this.#sink)
      this.#startFailure = undefined
    } catch (error) {
      this.#startFailure = error instanceof Error ? error : new Error(String(error))
      throw this.#startFailure
    }
  }

  async #workUntil(drain: AbortSignal, session: Session): Promise<void> {
    // Another process may have led meanwhile: its planned requeues must not be lost.
    if (this.#worked) this.#rescan()
    this.#worked = true
    // warmUp() has created the reconciler.
    const stopped = this.#workers.run(this.#reconcile as KeyReconciler, session.abort.signal)
    const listening = [drain, session.abort.signal].map((signal) => onAbort(signal, () => this.#workers.stop()))
    await stopped
    for (const stopListening of listening) stopListening()
  }

  /** Adds the keys that other replicas held, and all keys of the sources, since this process may be responsible for them now. */
  #rescan(): void {
    if (this.#reconcile === undefined || this.#disposed) return
    for (const key of this.#workers.takeRefused()) this.#queue.add(key, { cause: { event: 'requeue' } })
    this.#sources.rescan()
  }

  /** Whether the cache shows that the object of a key is deleted or being deleted; false when it cannot tell. */
  #isDeleted(key: string): boolean {
    const { kind } = this.#controller
    const store = kind === undefined ? undefined : this.#parts.cluster.cache.peek(kind)
    // The store of this cluster does not contain keys of other clusters.
    if (store === undefined || parseClusterKey(key).cluster !== '') return false
    const object = store.get(key)
    return object === undefined || isDeleting(object)
  }
}

/** A controller that runs without a manager has one cluster. */
function only(cluster: Cluster): Clusters {
  return {
    get: (name) => (name === cluster.name ? cluster : undefined),
    [Symbol.iterator]: () => [cluster].values(),
  }
}
