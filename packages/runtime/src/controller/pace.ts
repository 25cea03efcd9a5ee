import { type Clock, type Duration, toMillis } from '@kubewright/base'

/** Determines how long a key must wait: the `debounce` and the `minInterval` of a controller. */
export class Pace {
  readonly #clock: Clock
  readonly #debounce: number
  readonly #interval: number
  // The monotonic start of the last reconcile of each key, oldest first. Has no keys whose interval has passed, except
  // for those that ended since the last start.
  readonly #starts = new Map<string, number>()

  constructor(clock: Clock, debounce: Duration | undefined, minInterval: Duration | undefined) {
    this.#clock = clock
    this.#debounce = debounce === undefined ? 0 : toMillis(debounce)
    this.#interval = minInterval === undefined ? 0 : toMillis(minInterval)
  }

  /** Records the start of a reconcile. */
  started(key: string, now: number): void {
    if (this.#interval === 0) return
    this.#starts.delete(key)
    this.#starts.set(key, now)
    for (const [other, start] of this.#starts) {
      if (now - start < this.#interval) break
      this.#starts.delete(other)
    }
  }

  /** The milliseconds until a key that was added now may be reconciled. */
  afterAdd(key: string): number {
    return Math.max(this.#debounce, this.untilNext(key))
  }

  /** The milliseconds until the minimum interval since the last start has passed. */
  untilNext(key: string): number {
    const start = this.#interval === 0 ? undefined : this.#starts.get(key)
    return start === undefined ? 0 : Math.max(0, start + this.#interval - this.#clock.monotonic())
  }
}
