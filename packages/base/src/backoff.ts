import type { Clock } from './clock.ts'
import { type Duration, toMillis } from './duration.ts'
import type { Random } from './random.ts'

/** How delays grow: the fields and the rules of wait.Backoff (apimachinery/pkg/util/wait/backoff.go). */
export interface BackoffOptions {
  /** The first delay. */
  readonly duration: Duration
  /** What the delay is multiplied by at each step; 0 keeps it. @default 0 */
  readonly factor?: number
  /** Each delay is prolonged by a random part of up to `jitter * delay`; this does not add up over the steps. @default 0 */
  readonly jitter?: number
  /** The number of steps in which the delay may still grow; after them it stays. @default 0 */
  readonly steps?: number
  /** The longest delay before jitter. When growth would exceed it, the delay becomes the cap and growth ends. @default none */
  readonly cap?: Duration
}

/** A sequence of growing delays. Each call of `step` gives the next one and changes the state. */
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

  /** The steps that are left: 0 when the delay has stopped growing. */
  get steps(): number {
    return this.#steps
  }

  /** The next delay in milliseconds, before jitter. */
  get duration(): number {
    return this.#duration
  }

  /** The next delay in milliseconds, jitter included. */
  step(): number {
    const delay = this.#duration
    if (this.#steps < 1) this.#steps = 0
    else this.#grow()
    return this.#jitter > 0 ? jitter(delay, this.#jitter, this.#random) : delay
  }

  /** Starts again from the first delay. */
  reset(): void {
    this.#duration = toMillis(this.#options.duration)
    this.#steps = this.#options.steps ?? 0
  }

  /** An independent sequence with the same options, from the start. */
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
 * A function that gives the delays of a `Backoff`, which starts again whenever `resetAfter` has passed since it last started: a
 * failure after a quiet time is treated as a first one. As in wait.Backoff, a `resetAfter` of zero means no growth at all.
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

/** `duration` milliseconds prolonged by a random part of up to `maxFactor * duration`; a `maxFactor` of 0 or less means 1. */
export function jitter(duration: number, maxFactor: number, random: Random): number {
  return duration + random.next() * (maxFactor > 0 ? maxFactor : 1) * duration
}
