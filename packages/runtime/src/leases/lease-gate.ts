import type { Clock } from '@kubewright/base'
import { NotLeaderError } from './not-leader-error.ts'
import type { WriteGate } from './write-gate.ts'

/**
 * A gate that is open for a limited time. It closes by itself when the time is up, whether or not any timer runs: a process that
 * was paused finds it closed when it goes on. Measured with the monotonic clock, so a step of the wall time does not matter.
 */
export class LeaseGate implements WriteGate {
  readonly #clock: Clock
  readonly #what: string
  #until = Number.NEGATIVE_INFINITY

  /** `what` completes the message of refused writes: "... because this process does not hold {what}". */
  constructor(clock: Clock, what: string) {
    this.#clock = clock
    this.#what = what
  }

  get isOpen(): boolean {
    return this.#clock.monotonic() < this.#until
  }

  /** Whole milliseconds after which it is sure to have closed by itself; 0 when it is closed. */
  get remaining(): number {
    return Math.max(0, Math.ceil(this.#until - this.#clock.monotonic()))
  }

  /** Opens it until the given monotonic time; false, and still closed, when that has passed. */
  open(until: number): boolean {
    this.#until = until
    return this.isOpen
  }

  /** Keeps it open for longer; false when it has closed meanwhile: what happened since is unknown, so it must not just go on. */
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
      `Cannot write because this process does not hold ${this.#what}: nothing was sent, end this work and leave it to the holder`,
    )
  }
}
