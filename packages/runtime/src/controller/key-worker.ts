import { type Duration, formatDuration, type Logger, toMillis } from '@kubewright/base'
import type { KeyGate, KeyHold } from '../leases/write-gate.ts'
import type { Queue, Taken } from '../queue/queue.ts'
import { noTracer, type Tracer } from '../telemetry/tracing/tracer.ts'
import type { ControllerMetrics } from './controller-metrics.ts'
import { HangWatch } from './hang-watch.ts'
import { type HotLoop, HotLoopDetector, type HotLoopOptions } from './hot-loop-detector.ts'
import type { KeyOutcome, KeyReconciler } from './key-controller.ts'
import type { ReconcileHistory } from './reconcile-history.ts'
import { ReconcileRun, type RunHost } from './reconcile-run.ts'
import type { ResultHandler } from './result-handler.ts'
import { traced } from './traced.ts'

/** What a {@link KeyWorker} is made of. */
export interface KeyWorkerOptions {
  readonly host: RunHost
  readonly queue: Queue
  readonly results: ResultHandler
  readonly metrics: ControllerMetrics
  readonly history: ReconcileHistory
  readonly tracer: Tracer
  readonly keyGate: KeyGate | undefined
  readonly reconcileTimeout: Duration | undefined
  readonly hangAfter: Duration
  readonly hotLoop: HotLoopOptions | false | undefined
}

/** Carries out the reconciles of a controller: holds the key, watches over the run, and hands the key back. */
export class KeyWorker {
  readonly #options: KeyWorkerOptions
  readonly #debug: Logger
  readonly #timeout: number
  readonly #hangs: HangWatch
  readonly #hotLoops: HotLoopDetector | undefined
  // Keys that belonged to others when they were taken.
  readonly #refused = new Set<string>()

  constructor(options: KeyWorkerOptions) {
    const { host, hangAfter, hotLoop, reconcileTimeout } = options
    this.#options = options
    this.#debug = host.log.v(1)
    this.#timeout = reconcileTimeout === undefined ? 0 : toMillis(reconcileTimeout)
    this.#hangs = new HangWatch(host.clock, toMillis(hangAfter), host.controller)
    const kind = host.kind === undefined ? undefined : `${host.kind.apiVersion} ${host.kind.kind}`
    this.#hotLoops = hotLoop === false ? undefined : new HotLoopDetector(kind, hotLoop)
  }

  /** What is to be said about reconciles that hang. */
  problems(): string[] {
    return this.#hangs.problems()
  }

  /** Removes and returns the keys that belonged to others when they were taken. */
  takeRefused(): string[] {
    const keys = [...this.#refused]
    this.#refused.clear()
    return keys
  }

  /** Reconciles a key; calls `ended` at once or later, when the key has been handed back. */
  begin(taken: Taken, now: number, abort: AbortSignal, reconcile: KeyReconciler, ended: () => void): void {
    const { host, keyGate, queue, results } = this.#options
    const run = new ReconcileRun(host, taken, abort, now)
    let hold: KeyHold | undefined
    let outcome: ReturnType<KeyReconciler>
    try {
      hold = keyGate?.hold(taken.key)
      if (keyGate !== undefined && hold === undefined) {
        this.#refused.add(taken.key)
        results.forget(taken.key)
        queue.done(taken.key)
        ended()
        return
      }
      run.lost = hold?.lost
      if (this.#timeout > 0) run.limit(this.#timeout)
      outcome = this.#call(run, reconcile)
    } catch (error) {
      this.#failed(run, error)
      this.#end(run, hold, ended)
      return
    }
    if (isPromise(outcome)) this.#follow(run, outcome, hold, ended)
    else {
      this.#succeeded(run, outcome)
      this.#end(run, hold, ended)
    }
  }

  #call(run: ReconcileRun, reconcile: KeyReconciler): ReturnType<KeyReconciler> {
    const { tracer, host } = this.#options
    return tracer === noTracer ? reconcile(run.key, run) : traced(tracer, host, run, reconcile)
  }

  #follow(
    run: ReconcileRun,
    outcome: Promise<KeyOutcome | void>,
    hold: Disposable | undefined,
    ended: () => void,
  ): void {
    this.#hangs.watch(run)
    outcome.then(
      (value) => {
        this.#hangs.forget(run)
        this.#succeeded(run, value)
        this.#end(run, hold, ended)
      },
      (error: unknown) => {
        this.#hangs.forget(run)
        this.#failed(run, error)
        this.#end(run, hold, ended)
      },
    )
  }

  #succeeded(run: ReconcileRun, outcome: KeyOutcome | void): void {
    try {
      this.#options.results.succeeded(run, outcome)
    } catch (error) {
      this.#unplanned(run, error)
    }
  }

  #failed(run: ReconcileRun, error: unknown): void {
    try {
      this.#options.results.failed(run, error)
    } catch (fault) {
      this.#unplanned(run, fault)
    }
  }

  // A rate limiter of the user's may throw, too. Neither the key nor the process may be lost by that.
  #unplanned(run: ReconcileRun, error: unknown): void {
    run.result = 'error'
    run.error = error
    run.log.error(error, 'Cannot plan what comes after a reconcile: it is repeated in a minute')
    this.#options.queue.addAfter(run.key, 60_000, { priority: run.taken.priority })
  }

  #end(run: ReconcileRun, hold: Disposable | undefined, ended: () => void): void {
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
    ended()
  }

  #reportHotLoop(run: ReconcileRun, { times, within, field, of, writers }: HotLoop): void {
    this.#options.metrics.count('hotLoops')
    run.log.warn('Reconciled in circles, because a field keeps changing', {
      times,
      within: formatDuration(Math.round(within)),
      field,
      of,
      ...(writers.length === 0 ? {} : { writtenBy: writers }),
      cure: 'write the field only when it has to change, or leave its changes out with a predicate',
    })
  }
}

function isPromise(outcome: ReturnType<KeyReconciler>): outcome is Promise<KeyOutcome | void> {
  // Types do not allow null, but programs in JavaScript may return it.
  return typeof outcome === 'object' && outcome !== null && 'then' in outcome && typeof outcome.then === 'function'
}
