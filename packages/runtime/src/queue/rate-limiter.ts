import { type Clock, type Duration, jitter, type Random, toMillis } from '@kubewright/base'

/**
 * Decides how long a key has to wait before it is tried again. `when` counts as a try: ask only to use the answer.
 * The rules and the numbers are those of client-go's default_rate_limiters.go.
 */
export interface RateLimiter<K = string> {
  /** Milliseconds until the key may be tried again; each call counts one more failure. */
  when(key: K): number
  /** Ends the counting for a key, because it succeeded or will not be tried again. */
  forget(key: K): void
  /** How often `when` was asked since the key was last forgotten. */
  numRequeues(key: K): number
}

/** Bounds of {@link itemExponentialRateLimiter}. */
export interface ExponentialOptions {
  /** @default 5 ms */
  readonly base?: Duration
  /** @default 1000 s */
  readonly max?: Duration
}

/** Doubles the wait of a key with each failure, from `base` up to `max`. Keys do not influence each other. */
export function itemExponentialRateLimiter<K = string>(options: ExponentialOptions = {}): RateLimiter<K> {
  const base = toMillis(options.base ?? 5)
  const max = toMillis(options.max ?? 1_000_000)
  const failures = new FailureCounts<K>()
  return {
    // 2 ** n overflows to Infinity for very many failures, which the minimum turns into the maximum.
    when: (key) => Math.min(base * 2 ** failures.increment(key), max),
    forget: (key) => failures.forget(key),
    numRequeues: (key) => failures.of(key),
  }
}

/** Waits of {@link itemFastSlowRateLimiter}. */
export interface FastSlowOptions {
  readonly fast: Duration
  readonly slow: Duration
  /** How many tries of a key wait for `fast` only. */
  readonly maxFastAttempts: number
}

/** Gives each key a number of fast retries, then slow ones. */
export function itemFastSlowRateLimiter<K = string>(options: FastSlowOptions): RateLimiter<K> {
  const fast = toMillis(options.fast)
  const slow = toMillis(options.slow)
  const failures = new FailureCounts<K>()
  return {
    when: (key) => (failures.increment(key) < options.maxFastAttempts ? fast : slow),
    forget: (key) => failures.forget(key),
    numRequeues: (key) => failures.of(key),
  }
}

/** Size of a {@link bucketRateLimiter}. */
export interface BucketOptions {
  readonly clock: Clock
  /** Tokens that come back per second. @default 10 */
  readonly qps?: number
  /** Tokens that can be saved up. @default 100 */
  readonly burst?: number
}

/** A token bucket that all keys share: bounds the rate of retries as a whole. It remembers nothing of single keys. */
export function bucketRateLimiter<K = string>(options: BucketOptions): RateLimiter<K> {
  const { clock, qps = 10, burst = 100 } = options
  if (!(qps > 0)) throw new RangeError(`qps must be greater than 0: ${qps}`)
  if (!(burst >= 1)) throw new RangeError(`burst must be at least 1: ${burst}`)
  // Negative while reservations are outstanding: every caller waits behind those before it.
  let tokens = burst
  let filledAt = clock.monotonic()
  return {
    when() {
      const now = clock.monotonic()
      tokens = Math.min(burst, tokens + ((now - filledAt) * qps) / 1000) - 1
      filledAt = now
      return tokens >= 0 ? 0 : (-tokens * 1000) / qps
    },
    forget() {},
    numRequeues: () => 0,
  }
}

/** Waits as long as the most reluctant of several limiters asks for; all of them count each try. */
export function maxOfRateLimiter<K = string>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    when: (key) => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(key)), 0),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key)
    },
    numRequeues: (key) => limiters.reduce((most, limiter) => Math.max(most, limiter.numRequeues(key)), 0),
  }
}

/** Never waits longer than `max`, whatever the limiter inside says. */
export function withMaxWait<K = string>(limiter: RateLimiter<K>, max: Duration): RateLimiter<K> {
  const limit = toMillis(max)
  return {
    when: (key) => Math.min(limiter.when(key), limit),
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  }
}

/** Prolongs each wait by a random part of up to `factor` of it, so that keys that failed together do not come back together. */
export function withJitter<K = string>(limiter: RateLimiter<K>, random: Random, factor: number = 0.2): RateLimiter<K> {
  return {
    when(key) {
      const wait = limiter.when(key)
      return wait > 0 ? jitter(wait, factor, random) : wait
    },
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  }
}

/** The usual limiter of controllers: per key exponential from 5 ms to 1000 s, and 10 retries per second with a burst of 100 overall. */
export function defaultRateLimiter<K = string>(options: { readonly clock: Clock }): RateLimiter<K> {
  return maxOfRateLimiter(itemExponentialRateLimiter<K>(), bucketRateLimiter<K>(options))
}

/** Failures per key; holds an entry only for keys that failed since they were forgotten. */
class FailureCounts<K> {
  readonly #counts = new Map<K, number>()

  of(key: K): number {
    return this.#counts.get(key) ?? 0
  }

  /** Counts one more and returns how many there were before. */
  increment(key: K): number {
    const before = this.of(key)
    this.#counts.set(key, before + 1)
    return before
  }

  forget(key: K): void {
    this.#counts.delete(key)
  }
}
