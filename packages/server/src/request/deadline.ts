import { newTimeoutError } from '@kubewright/api'
import type { Clock } from '@kubewright/base'

/**
 * The time by which a request must be answered. A timer alone cannot enforce it: timers do not fire while a request computes, and a
 * request that has timed out would go on. The write pipeline therefore checks the deadline between its steps.
 */
export class Deadline {
  readonly #clock: Clock
  readonly #at: number

  /** `timeout` in milliseconds from now. */
  constructor(clock: Clock, timeout: number) {
    this.#clock = clock
    this.#at = clock.monotonic() + timeout
  }

  /** Throws a Timeout error when the time has passed. */
  check(): void {
    if (this.#clock.monotonic() >= this.#at) throw timedOut()
  }
}

/** The error of a request that took too long, as in apiserver/pkg/server/filters/timeout.go. */
export function timedOut(): Error {
  return newTimeoutError('request did not complete within the allotted timeout', 0)
}
