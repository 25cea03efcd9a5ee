import { Deferred, type Duration, formatDuration, type Logger, type Timer, toMillis } from '@kubewright/base'
import type { KeyGate, KeyHold } from '../leases/write-gate.ts'
import type { Queue, Taken } from '../queue/queue.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { ControllerMetrics } from './controller-metrics.ts'
import { HangWatch } from './hang-watch.ts'
import { type HotLoop, HotLoopDetector, type HotLoopOptions } from './hot-loop-detector.ts'
import type { KeyOutcome, KeyReconciler } from './key-controller.ts'
import type { Pace } from './pace.ts'
import type { ReconcileHistory } from './reconcile-history.ts'
import { type ReconcileHost, ReconcileRun } from './reconcile-run.ts'
import type { ResultHandler } from './result-handler.ts'
import { traced } from './traced.ts'

// The longest time, in milliseconds, for which synchronous reconciles may run before timers and sockets get a turn.
const maxSlice = 20
// An idle time, in milliseconds, after which a new slice begins: timers and sockets had their turn meanwhile.
const minPause = 2

/** Options of {@link Workers}. */
export interface WorkersOptions {
  readonly host: ReconcileHost
  readonly queue: Queue
  readonly results: ResultHandler
  readonly metrics: ControllerMetrics
  readonly pace: Pace
  readonly history: ReconcileHistory
  readonly tracer: Tracer
  readonly keyGate: KeyGate | undefined
  /** The number of workers. */
  readonly concurrency: number
  readonly timeout: Duration | undefined
  readonly hangAfter: Duration
  readonly hotLoop: HotLoopOptions | false | undefined
}

/**
 * Takes keys from the queue, calls the reconciler and hands the keys back: the whole way of a key through a controller.
 *
 * A worker is a slot, not a loop. Reconciles that return without a promise run one after the other in the same turn of the event
 * loop, for at most 20 ms at a time. A key is handed back (`queue.done`) exactly once, even if the reconciler or the result
 * handler throws.
 */
export class Workers {
  readonly #options: WorkersOptions
  readonly #debug: Logger
  readonly #timeout: number
  readonly #hangs: HangWatch
  readonly #hotLoops: HotLoopDetector | undefined
  // Keys that belonged to other replicas when they were taken.
  readonly #refused = new Set<string>()
  // Set by run(); keys are taken only while it runs.
  #reconcile: KeyReconciler | undefined
  #abort: AbortSignal | undefined
  #stopped: Deferred | undefined
  #taking = false
  // The number of workers that hold a key.
  #active = 0
  #pumping = false
  #waking = false
  #sliceStart = 0
  #lastTurn = Number.NEGATIVE_INFINITY
  #pause: Timer | undefined
  // While paused, a key is taken only for each step.
  #isPaused = false
  #steps = 0

  constructor(options: WorkersOptions) {
    const { host, hangAfter, hotLoop, timeout, queue } = options
    this.#options = options
    this.#debug = host.log.v(1)
    this.#timeout = timeout === undefined ? 0 : toMillis(timeout)
    this.#hangs = new HangWatch(host.clock, toMillis(hangAfter), host.controller)
    const kind = host.kind === undefined ? undefined : `${host.kind.apiVersion} ${host.kind.kind}`
    this.#hotLoops = hotLoop === false ? undefined : new HotLoopDetector(kind, hotLoop)
    queue.onReady(() => this.#wake())
  }

  /** Takes keys until `stop`, then resolves when all running reconciles have ended; `abort` aborts their signals. */
  run(reconcile: KeyReconciler, abort: AbortSignal): Promise<void> {
    this.#reconcile = reconcile
    this.#abort = abort
    this.#taking = true
    this.#stopped = new Deferred()
    this.#wake()
    return this.#stopped.promise
  }

  /** Takes no more keys. Running reconciles continue. */
  stop(): void {
    this.#taking = false
    this.#pause?.cancel()
    this.#pause = undefined
    if (this.#active === 0) this.#stopped?.resolve()
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Leaves all keys in the queue until {@link Workers.resume}. Running reconciles continue; pending steps are dropped. */
  pause(): void {
    this.#isPaused = true
    this.#steps = 0
  }

  /** Pauses, and takes one more key: now, or when one is ready. */
  step(): void {
    this.#isPaused = true
    this.#steps++
    this.#wake()
  }

  resume(): void {
    this.#isPaused = false
    this.#steps = 0
    this.#wake()
  }

  /** One message per reconcile that hangs. */
  problems(): string[] {
    return this.#hangs.problems()
  }

  /** Removes and returns the keys that belonged to other replicas when they were taken. */
  takeRefused(): string[] {
    const keys = [...this.#refused]
    this.#refused.clear()
    return keys
  }

  // In a microtask, so that the code that adds keys can add all of them first.
  #wake(): void {
    if (this.#waking || this.#pumping || !this.#taking) return
    this.#waking = true
    void Promise.resolve().then(() => {
      this.#waking = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#pumping || this.#pause !== undefined) return
    const { queue, concurrency } = this.#options
    this.#pumping = true
    try {
      while (this.#taking && this.#active < concurrency && this.#mayTake() && !this.#needsPause()) {
        const taken = queue.tryGet()
        if (taken === undefined) break
        if (this.#isPaused) this.#steps--
        this.#active++
        this.#begin(taken)
      }
    } finally {
      this.#pumping = false
    }
  }

  #mayTake(): boolean {
    return !this.#isPaused || this.#steps > 0
  }

  // Without pauses, synchronous reconciles would keep the process from renewing its lease and answering probes.
  #needsPause(): boolean {
    const { queue } = this.#options
    const { clock } = this.#options.host
    const now = clock.monotonic()
    if (now - this.#lastTurn > minPause) this.#sliceStart = now
    this.#lastTurn = now
    if (now - this.#sliceStart <= maxSlice || queue.length === 0) return false
    const resume = (): void => {
      this.#pause = undefined
      this.#sliceStart = clock.monotonic()
      this.#lastTurn = this.#sliceStart
      this.#pump()
    }
    this.#pause = clock.setTimer(0, resume, `pause of ${queue.name}`)
    return true
  }

  /** Reconciles a key. Calls {@link Workers.#end} exactly once, in this turn or when the promise settles. */
  #begin(taken: Taken): void {
    const { host, keyGate, metrics, pace, tracer } = this.#options
    metrics.active(this.#active)
    pace.started(taken.key, this.#lastTurn)
    // Keys are taken only between run() and stop(), which set both.
    const reconcile = this.#reconcile as KeyReconciler
    const run = new ReconcileRun(host, taken, this.#abort as AbortSignal, this.#lastTurn)
    let hold: KeyHold | undefined
    let outcome: ReturnType<KeyReconciler>
    try {
      hold = keyGate?.hold(taken.key)
      if (keyGate !== undefined && hold === undefined) {
        this.#refuse(taken.key)
        return
      }
      run.lost = hold?.lost
      if (this.#timeout > 0) run.limit(this.#timeout)
      outcome = tracer.isActive === false ? reconcile(taken.key, run) : traced(tracer, host, run, reconcile)
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

  #refuse(key: string): void {
    const { queue, results } = this.#options
    this.#refused.add(key)
    results.forget(key)
    queue.done(key)
    this.#release()
  }

  #follow(run: ReconcileRun, outcome: Promise<KeyOutcome | void>, hold: KeyHold | undefined): void {
    this.#hangs.watch(run)
    outcome.then(
      (value) => {
        this.#hangs.forget(run)
        this.#succeeded(run, value)
        this.#end(run, hold)
      },
      (error: unknown) => {
        this.#hangs.forget(run)
        this.#failed(run, error)
        this.#end(run, hold)
      },
    )
  }

  #succeeded(run: ReconcileRun, outcome: KeyOutcome | void): void {
    try {
      this.#options.results.succeeded(run, outcome)
    } catch (error) {
      this.#retryUnplanned(run, error)
    }
  }

  #failed(run: ReconcileRun, error: unknown): void {
    try {
      this.#options.results.failed(run, error)
    } catch (fault) {
      this.#retryUnplanned(run, fault)
    }
  }

  // A user's rate limiter may throw. Neither the key nor the process may be lost because of that.
  #retryUnplanned(run: ReconcileRun, error: unknown): void {
    run.result = 'error'
    run.error = error
    run.log.error(error, 'Rate limiter or result handler failed; retrying the key in one minute')
    this.#options.queue.addAfter(run.key, 60_000, { priority: run.taken.priority })
  }

  #end(run: ReconcileRun, hold: KeyHold | undefined): void {
    const { host, metrics, history, queue } = this.#options
    const now = host.clock.monotonic()
    run.end(now)
    hold?.[Symbol.dispose]()
    metrics.ended(run.result, run.durationMillis)
    if (run.timedOut) metrics.count('timeouts')
    history.add(run)
    const hotLoop = this.#hotLoops?.observe(run.taken, now)
    if (hotLoop !== undefined) this.#reportHotLoop(run, hotLoop)
    if (this.#debug.enabled()) {
      run.log.debug('Reconcile done', { result: run.result, millis: run.durationMillis, causes: run.causes })
    }
    queue.done(run.key)
    this.#release()
  }

  #release(): void {
    this.#active--
    if (!this.#taking) this.stop()
    else if (!this.#pumping) this.#pump()
    this.#options.metrics.active(this.#active)
  }

  #reportHotLoop(run: ReconcileRun, { times, within, field, of, writers }: HotLoop): void {
    this.#options.metrics.count('hotLoops')
    run.log.warn('Hot loop: the key is reconciled repeatedly because a field keeps changing', {
      times,
      within: formatDuration(Math.round(within)),
      field,
      of,
      ...(writers.length === 0 ? {} : { writtenBy: writers }),
      fix: 'write the field only when its value changes, or ignore its changes with a predicate',
    })
  }
}

function isPromise(outcome: ReturnType<KeyReconciler>): outcome is Promise<KeyOutcome | void> {
  // The types exclude null, but reconcilers in JavaScript may return it.
  return typeof outcome === 'object' && outcome !== null && 'then' in outcome && typeof outcome.then === 'function'
}
