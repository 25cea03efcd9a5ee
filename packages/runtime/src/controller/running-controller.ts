import { isDeleting } from '@kubewright/api'
import {
  Deferred,
  formatDuration,
  isKubewrightError,
  KubewrightError,
  type LinkedController,
  type Logger,
  linkSignals,
  onAbort,
  type Timer,
  toMillis,
  type WaitOptions,
} from '@kubewright/base'
import { noTracer } from '../tracing/tracer.ts'
import type { Cause } from '../work-queue/cause.ts'
import { PriorityQueue } from '../work-queue/priority-queue.ts'
import type { Queue, QueueSnapshot, Taken } from '../work-queue/queue.ts'
import { itemExponentialRateLimiter, type RateLimiter, withJitter } from '../work-queue/rate-limiter.ts'
import { WorkQueue } from '../work-queue/work-queue.ts'
import { ControllerMetrics } from './controller-metrics.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { ControllerRunner, ReconcileRecord } from './controller-runner.ts'
import { classifyFailure } from './failure-class.ts'
import { HangWatch } from './hang-watch.ts'
import { type HotLoop, HotLoopDetector } from './hot-loop-detector.ts'
import type { KeyController, KeyOutcome, KeyReconciler } from './key-controller.ts'
import { ReconcileHistory } from './reconcile-history.ts'
import { ReconcileRun, type RunHost } from './reconcile-run.ts'
import type { KeySink } from './source.ts'
import { SourceSet } from './source-set.ts'
import { traced } from './traced.ts'

// After so many conflicts in a row there is more to it than somebody who was faster.
const maxQuietConflicts = 16
// How long keys are worked on without letting timers and sockets have a turn.
const maxSlice = 20
// A pause after which a new slice begins: in the meantime they had one.
const minPause = 2

const requeueCause: Cause = Object.freeze({ event: 'requeue' })
const retryCause: Cause = Object.freeze({ event: 'retry' })

interface Session {
  /** Aborts the running reconciles. */
  readonly abort: LinkedController
  readonly ended: Deferred
}

/** The controller of keys in operation: what `createControllerRunner` makes. */
export class RunningController implements ControllerRunner {
  readonly name: string
  readonly needsLeader: boolean
  readonly #controller: KeyController
  readonly #parts: ControllerParts
  readonly #log: Logger
  readonly #debug: Logger
  readonly #host: RunHost
  readonly #limiter: RateLimiter
  readonly #conflicts: RateLimiter
  readonly #queue: Queue
  readonly #metrics: ControllerMetrics
  readonly #history: ReconcileHistory
  readonly #hangs: HangWatch
  readonly #hotLoops: HotLoopDetector | undefined
  readonly #timeout: number
  readonly #sources: SourceSet
  readonly #sink: KeySink
  // Keys that belonged to others when they were taken.
  readonly #refused = new Set<string>()
  readonly #gateListener: Disposable | undefined
  #reconcile: KeyReconciler | undefined
  #startFailure: Error | undefined
  #session: Session | undefined
  #worked = false
  #taking = false
  #active = 0
  #pumping = false
  #waking = false
  #sliceStart = 0
  #lastTurn = Number.NEGATIVE_INFINITY
  #pause: Timer | undefined
  #disposed = false

  constructor(controller: KeyController, parts: ControllerParts) {
    const { name, kind, concurrency } = controller
    const { clock, metrics } = parts
    const random = parts.random.fork(`controller ${name}`)
    this.name = name
    this.needsLeader = controller.needsLeader
    this.#controller = controller
    this.#log = parts.log.withValues({
      controller: name,
      ...(kind === undefined ? {} : { controllerGroup: kind.group, controllerKind: kind.kind }),
    })
    this.#debug = this.#log.v(1)
    this.#parts = { ...parts, log: this.#log }
    const { client } = parts.cluster
    this.#host = { controller: name, kind, clock, random, client, events: parts.events, log: this.#log }
    this.#limiter = controller.rateLimiter?.() ?? withJitter(itemExponentialRateLimiter(), random)
    this.#conflicts = withJitter(itemExponentialRateLimiter({ max: 1000 }), random)
    const options = { clock, name, metrics, rateLimiter: this.#limiter }
    this.#queue = controller.queue === 'classic' ? new WorkQueue(options) : new PriorityQueue(options)
    this.#queue.onReady(() => this.#wake())
    this.#metrics = new ControllerMetrics(metrics, name, concurrency)
    this.#history = new ReconcileHistory(this.#log)
    this.#hangs = new HangWatch(clock, toMillis(controller.hangAfter ?? '1m'), name)
    const kindText = kind === undefined ? undefined : `${kind.apiVersion} ${kind.kind}`
    this.#hotLoops = controller.hotLoop === false ? undefined : new HotLoopDetector(kindText, controller.hotLoop)
    this.#timeout = controller.reconcileTimeout === undefined ? 0 : toMillis(controller.reconcileTimeout)
    this.#sources = new SourceSet(controller, this.#parts)
    this.#sink = {
      controller: name,
      add: (key, add) => this.#queue.add(key, add),
      addAfter: (key, delay, add) => this.#queue.addAfter(key, delay, add),
    }
    this.#gateListener = parts.keyGate?.onChange(() => this.#rescan())
  }

  async warmUp(options: WaitOptions = {}): Promise<void> {
    this.#start()
    await this.#sources.synced(options)
  }

  async work(options: { readonly drain: AbortSignal; readonly abort: AbortSignal }): Promise<void> {
    const { drain, abort } = options
    if (this.#session !== undefined) {
      throw new KubewrightError('KW_CONTROLLER_RUNNING', `Cannot run controller "${this.name}": it is running already`)
    }
    const session: Session = { abort: linkSignals(abort), ended: new Deferred() }
    this.#session = session
    try {
      await this.warmUp({ signal: drain })
      if (!drain.aborted && !this.#disposed) await this.#workUntil(drain, session)
    } catch (error) {
      // Being told to stop during the warm-up is a way to end like any other.
      if (!drain.aborted) throw error
    } finally {
      this.#session = undefined
      session.abort[Symbol.dispose]()
    }
  }

  problems(): readonly string[] {
    return [
      ...(this.#startFailure === undefined ? [] : [this.#startFailure.message]),
      ...this.#sources.problems(),
      ...this.#hangs.problems(),
    ]
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    this.#gateListener?.[Symbol.dispose]()
    this.#stopTaking()
    this.#session?.abort.abort(new KubewrightError('KW_CONTROLLER_RUNNING', `Controller "${this.name}" was disposed`))
    await this.#sources[Symbol.asyncDispose]()
    await this.#session?.ended.promise
    await this.#queue.shutDown({ pending: 'drop' })
  }

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
    // Somebody else may have led in the meantime: what they had planned for later must not be lost.
    if (this.#worked) this.#rescan()
    this.#worked = true
    this.#taking = true
    const listening = [drain, session.abort.signal].map((signal) => onAbort(signal, () => this.#stopTaking()))
    this.#wake()
    await session.ended.promise
    for (const stopListening of listening) stopListening()
  }

  #stopTaking(): void {
    this.#taking = false
    this.#pause?.cancel()
    this.#pause = undefined
    if (this.#active === 0) this.#session?.ended.resolve()
  }

  #rescan(): void {
    if (this.#reconcile === undefined || this.#disposed) return
    const refused = [...this.#refused]
    this.#refused.clear()
    for (const key of refused) this.#queue.add(key, { cause: requeueCause })
    this.#sources.rescan()
  }

  // Not at once: whoever adds keys should be able to add all of them first.
  #wake(): void {
    if (this.#waking || this.#pumping || !this.#taking) return
    this.#waking = true
    void Promise.resolve().then(() => {
      this.#waking = false
      this.#pump()
    })
  }

  /** Takes keys as long as there are any and workers are free. */
  #pump(): void {
    const session = this.#session
    if (this.#pumping || this.#pause !== undefined || session === undefined) return
    this.#pumping = true
    try {
      while (this.#taking && this.#active < this.#controller.concurrency) {
        if (this.#needsPause()) break
        const taken = this.#queue.tryGet()
        if (taken === undefined) break
        this.#begin(taken, session)
      }
    } finally {
      this.#pumping = false
    }
    if (!this.#taking && this.#active === 0) session.ended.resolve()
  }

  // A reconciler that answers from memory would otherwise keep the process from renewing its lease or answering probes.
  #needsPause(): boolean {
    const { clock } = this.#parts
    const now = clock.monotonic()
    if (now - this.#lastTurn > minPause) this.#sliceStart = now
    this.#lastTurn = now
    if (now - this.#sliceStart <= maxSlice || this.#queue.length === 0) return false
    const resume = (): void => {
      this.#pause = undefined
      this.#sliceStart = clock.monotonic()
      this.#lastTurn = this.#sliceStart
      this.#pump()
    }
    this.#pause = clock.setTimer(0, resume, `pause of controller ${this.name}`)
    return true
  }

  #begin(taken: Taken, session: Session): void {
    const { keyGate } = this.#parts
    const hold = keyGate?.hold(taken.key)
    if (keyGate !== undefined && hold === undefined) {
      this.#refused.add(taken.key)
      this.#forget(taken.key)
      this.#queue.done(taken.key)
      return
    }
    // The pump has just read the time.
    const run = new ReconcileRun(this.#host, taken, session.abort.signal, this.#lastTurn)
    this.#metrics.active(++this.#active)
    if (this.#timeout > 0) run.limit(this.#timeout)
    let outcome: ReturnType<KeyReconciler>
    try {
      outcome = this.#call(run)
    } catch (error) {
      this.#failed(run, error)
      this.#end(run, hold)
      return
    }
    if (isPromise(outcome)) this.#follow(run, outcome, hold)
    else {
      this.#succeeded(run, outcome)
      this.#end(run, hold)
    }
  }

  #call(run: ReconcileRun): ReturnType<KeyReconciler> {
    // Set before the first key can be taken.
    const reconcile = this.#reconcile as KeyReconciler
    const { tracer } = this.#parts
    return tracer === noTracer ? reconcile(run.key, run) : traced(tracer, this.#host, run, reconcile)
  }

  #follow(run: ReconcileRun, outcome: Promise<KeyOutcome | void>, hold: Disposable | undefined): void {
    this.#hangs.watch(run)
    const end = (): void => {
      this.#hangs.forget(run)
      this.#end(run, hold)
      this.#pump()
    }
    outcome.then(
      (value) => {
        this.#succeeded(run, value)
        end()
      },
      (error: unknown) => {
        this.#failed(run, error)
        end()
      },
    )
  }

  #succeeded(run: ReconcileRun, outcome: KeyOutcome | void): void {
    let after = 0
    try {
      if (outcome?.requeueAfter !== undefined) after = toMillis(outcome.requeueAfter)
    } catch (error) {
      this.#failed(run, error)
      return
    }
    this.#forget(run.key)
    if (after > 0) this.#requeue(run, after, outcome?.priority)
  }

  #requeue(run: ReconcileRun, after: number, priority: number | undefined): void {
    run.result = 'requeue_after'
    run.requeueAfterMillis = after
    this.#queue.addAfter(run.key, after, { cause: requeueCause, priority: priority ?? run.taken.priority })
  }

  #failed(run: ReconcileRun, error: unknown): void {
    run.error = error
    const { key } = run
    if (run.interrupted || isKubewrightError(error, 'KW_NOT_LEADER')) {
      run.result = 'error'
      this.#metrics.count('errors')
      run.log.info('Reconcile was interrupted', { reason: textOf(error) })
      this.#retry(run, this.#limiter.when(key))
      return
    }
    const failure = classifyFailure(error, () => this.#isGoing(key))
    if (failure.class === 'retry-later') {
      run.log.info('Reconcile will be repeated', { reason: textOf(error), after: formatDuration(failure.after) })
      this.#forget(key)
      this.#requeue(run, failure.after, undefined)
    } else if (failure.class === 'conflict' && this.#conflicts.numRequeues(key) < maxQuietConflicts) {
      run.result = 'conflict'
      this.#metrics.count('conflicts')
      run.log.debug('Reconcile met a newer state and will be repeated', { reason: textOf(error) })
      this.#retry(run, this.#conflicts.when(key))
    } else {
      run.result = failure.class === 'terminal' ? 'terminal_error' : 'error'
      this.#metrics.count('errors')
      if (failure.class === 'terminal') this.#metrics.count('terminalErrors')
      else this.#retry(run, Math.max(this.#limiter.when(key), failure.class === 'error' ? failure.atLeast : 0))
      if (failure.class === 'error' && failure.panic) this.#metrics.count('panics')
      run.log.error(error, 'Reconciler error')
    }
  }

  #retry(run: ReconcileRun, after: number): void {
    run.requeueAfterMillis = after
    this.#queue.addAfter(run.key, after, { cause: retryCause, priority: run.taken.priority })
  }

  #end(run: ReconcileRun, hold: Disposable | undefined): void {
    const now = this.#parts.clock.monotonic()
    run.end(now)
    hold?.[Symbol.dispose]()
    this.#metrics.active(--this.#active)
    this.#metrics.ended(run.result, run.durationMillis)
    if (run.timedOut) this.#metrics.count('timeouts')
    this.#history.add(run)
    const hotLoop = this.#hotLoops?.observe(run.taken, now)
    if (hotLoop !== undefined) this.#reportHotLoop(run, hotLoop)
    if (this.#debug.enabled()) {
      run.log.debug('Reconcile done', { result: run.result, millis: run.durationMillis, causes: run.causes })
    }
    this.#queue.done(run.key)
  }

  #reportHotLoop(run: ReconcileRun, { times, within, field, of, writers }: HotLoop): void {
    this.#metrics.count('hotLoops')
    run.log.info('Warning: reconciled in circles, because a field keeps changing', {
      times,
      within: formatDuration(Math.round(within)),
      field,
      of,
      ...(writers.length === 0 ? {} : { writtenBy: writers }),
      cure: 'write the field only when it has to change, or leave its changes out with a predicate',
    })
  }

  #forget(key: string): void {
    this.#queue.forget(key)
    this.#conflicts.forget(key)
  }

  /** Whether the object of a key is known to be gone or being deleted. */
  #isGoing(key: string): boolean {
    const { kind } = this.#controller
    if (kind === undefined) return false
    const store = this.#parts.cluster.cache.peek(kind)
    if (store === undefined) return false
    const object = store.get(key)
    return object === undefined || isDeleting(object)
  }
}

function isPromise(outcome: ReturnType<KeyReconciler>): outcome is Promise<KeyOutcome | void> {
  return typeof outcome === 'object' && 'then' in outcome && typeof outcome.then === 'function'
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
