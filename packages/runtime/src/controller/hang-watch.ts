import { type Clock, formatDuration, type Timer } from '@kubewright/base'
import type { ReconcileRun } from './reconcile-run.ts'

/**
 * Reports reconciles that run longer than a threshold, and repeats the report each time the threshold has passed again.
 * Uses one timer.
 */
export class HangWatch {
  readonly #clock: Clock
  readonly #threshold: number
  readonly #label: string
  readonly #running = new Set<ReconcileRun>()
  #timer: Timer | undefined

  constructor(clock: Clock, threshold: number, controller: string) {
    this.#clock = clock
    this.#threshold = threshold
    this.#label = `hanging reconciles of ${controller}`
  }

  watch(run: ReconcileRun): void {
    this.#running.add(run)
    this.#timer ??= this.#clock.setTimer(this.#threshold, () => this.#check(), this.#label)
  }

  forget(run: ReconcileRun): void {
    this.#running.delete(run)
    if (this.#running.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** One message for each reconcile that runs longer than the threshold. */
  problems(): string[] {
    const now = this.#clock.monotonic()
    return [...this.#running]
      .filter((run) => now + 1 - run.started >= this.#threshold)
      .map((run) => {
        const waitingFor = run.waiting === undefined ? '' : `, waiting for ${run.waiting}`
        return `Reconcile of ${JSON.stringify(run.key)} has been running for ${seconds(now - run.started)}${waitingFor}`
      })
  }

  #check(): void {
    // Allows one millisecond for rounding errors of the monotonic clock.
    const now = this.#clock.monotonic()
    let next = Number.POSITIVE_INFINITY
    for (const run of this.#running) {
      if (now + 1 >= this.#due(run)) this.#report(run, now)
      next = Math.min(next, this.#due(run))
    }
    // While reconciles run, the timer fires when the next report is due.
    this.#timer = this.#running.size === 0 ? undefined : this.#arm(next - now)
  }

  #arm(delay: number): Timer {
    return this.#clock.setTimer(delay, () => this.#check(), this.#label)
  }

  #due(run: ReconcileRun): number {
    return run.started + this.#threshold * (run.reports + 1)
  }

  #report(run: ReconcileRun, now: number): void {
    run.reports = Math.floor((now + 1 - run.started) / this.#threshold)
    const waiting = run.waiting === undefined ? {} : { waitingFor: run.waiting }
    run.log.warn('Reconcile is still running', { runningFor: seconds(now - run.started), ...waiting })
  }
}

const seconds = (millis: number): string => formatDuration(Math.round(millis / 1000) * 1000)
