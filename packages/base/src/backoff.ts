import type { Clock } from './clock.ts'
import { type Duration, toMillis } from './duration.ts'
import type { Random } from './random.ts'

/** How delays grow. The fields and rules are those of wait.Backoff (apimachinery/pkg/util/wait/backoff.go). */
export interface BackoffOptions {
  /** The first delay. */
  readonly duration: Duration
  /** Each step multiplies the delay by this factor; 0 leaves it unchanged. @default 0 */
  readonly factor?: number | undefined
  /**
   * Adds a random amount of up to `jitter * delay` to each delay. Jitter does not accumulate over the steps. @default 0
   */
  readonly jitter?: number | undefined
  /** The number of steps during which the delay grows; after them it stays constant. @default 0 */
  readonly steps?: number | undefined
  /**
   * The longest delay before jitter. A delay that would exceed the cap becomes the cap and stops growing. @default none
   */
  readonly cap?: Duration | undefined
}

/** A sequence of growing delays. Each call of `step` returns the next delay and advances the sequence. */
export class Backoff {
  readonly #options: BackoffOptions
  readonly #random: Random
  readonly #factor: number
  readonly #jitter: number
  readonly #cap: number
  #duration = 0
  #steps = 0

  constructor(options: BackoffOptions, random: Random) {
    this.#options = options
    this.#random = random
    this.#factor = options.factor ?? 0
    this.#jitter = options.jitter ?? 0
    this.#cap = options.cap === undefined ? 0 : toMillis(options.cap)
    if (this.#factor < 0) throw new RangeError(`factor must not be negative: ${this.#factor}`)
    this.reset()
  }

  /** The number of steps left in which the delay grows. */
  get steps(): number {
    return this.#steps
  }

  /** The next delay in milliseconds, before jitter. */
  get duration(): number {
    return this.#duration
  }

  /** Returns the next delay in milliseconds, including jitter, and advances the sequence. */
  step(): number {
    const delay = this.#duration
    if (this.#steps < 1) this.#steps = 0
    else this.#grow()
    return this.#jitter > 0 ? jitter(delay, this.#jitter, this.#random) : delay
  }

  /** Restarts the sequence at the first delay. */
  reset(): void {
    this.#duration = toMillis(this.#options.duration)
    this.#steps = this.#options.steps ?? 0
  }

  /** Returns an independent sequence with the same options, at its start. */
  fresh(): Backoff {
    return new Backoff(this.#options, this.#random)
  }

  #grow(): void {
    this.#steps--
    if (this.#factor === 0) return
    this.#duration *= this.#factor
    if (this.#cap > 0 && this.#duration > this.#cap) {
      this.#duration = this.#cap
      this.#steps = 0
    }
  }
}

/**
 * Returns a function that returns the next delay of a `Backoff`. The sequence restarts when more than `resetAfter` has
 * passed since its last start, so that a failure after a quiet period counts as the first one. As in wait.Backoff, a
 * `resetAfter` of zero disables growth.
 */
export function delayWithReset(
  options: BackoffOptions,
  resetAfter: Duration,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): () => number {
  const interval = toMillis(resetAfter)
  const grows = (options.factor ?? 0) > 0
  const backoff = new Backoff(grows && interval <= 0 ? { ...options, factor: 0, steps: 0 } : options, random)
  let started = clock.monotonic()
  return () => {
    if (grows && interval > 0 && clock.monotonic() - started > interval) {
      backoff.reset()
      started = clock.monotonic()
    }
    return backoff.step()
  }
}

/**
 * Adds a random amount of up to `maxFactor * duration` to `duration`, in milliseconds. A `maxFactor` of 0 or less means
 * 1.
 */
export function jitter(duration: number, maxFactor: number, random: Random): number {
  return duration + random.next() * (maxFactor > 0 ? maxFactor : 1) * duration
}
