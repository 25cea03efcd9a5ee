import { errorText, formatDuration, isKubewrightError, type Random, toMillis } from '@kubewright/base'
import type { Cause } from '../queue/cause.ts'
import type { Queue } from '../queue/queue.ts'
import { itemExponentialRateLimiter, type RateLimiter, withJitter } from '../queue/rate-limiter.ts'
import { explainReadOnly } from '../telemetry/explain-read-only.ts'
import type { ControllerMetrics } from './controller-metrics.ts'
import { classifyFailure } from './failure-class.ts'
import type { KeyOutcome } from './key-controller.ts'
import type { Pace } from './pace.ts'
import type { ReconcileRun } from './reconcile-run.ts'

// The maximum number of consecutive conflicts that are retried without counting as a failure.
const maxQuietConflicts = 16

// The number of consecutive failures after which the log says how to get rid of the object.
const stuckAfter = 8

const requeueCause: Cause = Object.freeze({ event: 'requeue' })
const retryCause: Cause = Object.freeze({ event: 'retry' })

/** Options of {@link ResultHandler}. */
export interface ResultHandlerOptions {
  readonly queue: Queue
  /** The rate limiter of the queue. */
  readonly limiter: RateLimiter
  readonly random: Random
  readonly metrics: ControllerMetrics
  readonly pace: Pace
  /** Whether the object of a key is known to be deleted or being deleted. */
  readonly isDeleted: (key: string) => boolean
}

/**
 * Decides what happens to a key after its reconcile, by the rules of controller-runtime and the additions described in
 * `KeyReconciler`.
 */
export class ResultHandler {
  readonly #options: ResultHandlerOptions
  readonly #conflicts: RateLimiter

  constructor(options: ResultHandlerOptions) {
    this.#options = options
    this.#conflicts = withJitter(itemExponentialRateLimiter({ max: 1000 }), options.random)
  }

  succeeded(run: ReconcileRun, outcome: KeyOutcome | void): void {
    let after = 0
    try {
      if (outcome?.requeueAfter !== undefined) after = toMillis(outcome.requeueAfter)
    } catch (error) {
      this.failed(run, error)
      return
    }
    this.forget(run.key)
    if (after > 0) this.#requeue(run, after, outcome?.priority)
  }

  failed(run: ReconcileRun, error: unknown): void {
    const { metrics, limiter, isDeleted } = this.#options
    const { key } = run
    explainReadOnly(error)
    run.error = error
    if (run.interrupted || isKubewrightError(error, 'KW_NOT_LEADER')) {
      run.result = 'error'
      metrics.count('errors')
      run.log.info('Reconcile interrupted', { reason: errorText(error) })
      this.#retry(run, limiter.when(key))
      return
    }
    const failure = classifyFailure(error, () => isDeleted(key))
    if (failure.class === 'retry-later') {
      run.log.info('Reconcile postponed', { reason: errorText(error), after: formatDuration(failure.after) })
      this.forget(key)
      this.#requeue(run, failure.after, undefined)
    } else if (failure.class === 'conflict' && this.#conflicts.numRequeues(key) < maxQuietConflicts) {
      run.result = 'conflict'
      metrics.count('conflicts')
      run.log.debug('Reconcile hit a conflict; retrying', { reason: errorText(error) })
      this.#retry(run, this.#conflicts.when(key))
    } else {
      run.result = failure.class === 'terminal' ? 'terminal_error' : 'error'
      metrics.count('errors')
      if (failure.class === 'terminal') metrics.count('terminalErrors')
      else this.#retry(run, Math.max(limiter.when(key), failure.class === 'error' ? failure.atLeast : 0))
      if (failure.class === 'error' && failure.panic) metrics.count('panics')
      // The limiter of a terminal error is not asked, so its count stays 0.
      const failures = limiter.numRequeues(key)
      const fix = failures >= stuckAfter ? run.fix() : undefined
      if (fix === undefined) run.log.error(error, 'Reconciler error')
      else run.log.error(error, 'Reconciler error', { failures, fix })
    }
  }

  /** Resets the failure counts of a key. */
  forget(key: string): void {
    this.#options.queue.forget(key)
    this.#conflicts.forget(key)
  }

  #requeue(run: ReconcileRun, after: number, priority: number | undefined): void {
    run.result = 'requeue_after'
    run.requeueAfterMillis = Math.max(after, this.#options.pace.untilNext(run.key))
    this.#options.queue.addAfter(run.key, run.requeueAfterMillis, {
      cause: requeueCause,
      priority: priority ?? run.taken.priority,
    })
  }

  #retry(run: ReconcileRun, after: number): void {
    run.requeueAfterMillis = Math.max(after, this.#options.pace.untilNext(run.key))
    this.#options.queue.addAfter(run.key, run.requeueAfterMillis, { cause: retryCause, priority: run.taken.priority })
  }
}
