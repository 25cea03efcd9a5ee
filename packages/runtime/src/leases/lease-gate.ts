import type { Clock } from '@kubewright/base'
import { NotLeaderError } from './not-leader-error.ts'
import type { WriteGate } from './write-gate.ts'

/**
 * A gate that is open for a limited time. It closes by itself when the time is up, without a timer: a process that was
 * paused finds it closed when it resumes. Uses the monotonic clock, so changes of the wall time have no effect.
 */
export class LeaseGate implements WriteGate {
  readonly #clock: Clock
  readonly #what: string
  #until = Number.NEGATIVE_INFINITY

  /** `what` completes the message of rejected writes: "... because this process does not hold {what}". */
  constructor(clock: Clock, what: string) {
    this.#clock = clock
    this.#what = what
  }

  get isOpen(): boolean {
    return this.#clock.monotonic() < this.#until
  }

  /** Whole milliseconds until the gate has certainly closed by itself; 0 when it is closed. */
  get remaining(): number {
    return Math.max(0, Math.ceil(this.#until - this.#clock.monotonic()))
  }

  /** Opens the gate until a monotonic time. Returns false, and leaves it closed, when that time has passed. */
  open(until: number): boolean {
    this.#until = until
    return this.isOpen
  }

  /**
   * Extends the time. Returns false when the gate has closed meanwhile: another process may have worked since, so it
   * must not reopen.
   */
  extend(until: number): boolean {
    if (!this.isOpen) return false
    this.#until = Math.max(this.#until, until)
    return true
  }

  close(): void {
    this.#until = Number.NEGATIVE_INFINITY
  }

  assertOpen(): void {
    if (this.isOpen) return
    throw new NotLeaderError(
      `Cannot write because this process does not hold ${this.#what}: nothing was sent; end this work, the holder will do it`,
    )
  }
}
