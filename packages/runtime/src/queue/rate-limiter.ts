import { type Clock, type Duration, jitter, type Random, toMillis } from '@kubewright/base'

/**
 * Decides how long a key waits before it is retried. Rules and defaults are those of client-go's
 * default_rate_limiters.go.
 */
export interface RateLimiter<K = string> {
  /** Milliseconds until the key may be retried. Each call counts as one more failure. */
  when(key: K): number
  /** Resets the count of a key, because it succeeded or will not be retried. */
  forget(key: K): void
  /** How often `when` was called for the key since its last `forget`. */
  numRequeues(key: K): number
}

/**
 * Creates the rate limiter of one controller. `clock` and `random` are those of the manager, so that tests with virtual
 * time and simulations control them.
 */
export type RateLimiterFactory<K = string> = (parts: {
  readonly clock: Clock
  readonly random: Random
}) => RateLimiter<K>

/** Bounds of {@link itemExponentialRateLimiter}. */
export interface ExponentialOptions {
  /** @default 5 ms */
  readonly base?: Duration | undefined
  /** @default 1000 s */
  readonly max?: Duration | undefined
}

/** Doubles the delay of a key with each failure, from `base` to `max`. Keys are independent of each other. */
export function itemExponentialRateLimiter<K = string>(options: ExponentialOptions = {}): RateLimiter<K> {
  const base = toMillis(options.base ?? 5)
  const max = toMillis(options.max ?? 1_000_000)
  const failures = new FailureCounts<K>()
  return {
    // 2 ** n overflows to Infinity after many failures; the minimum then is `max`.
    when: (key) => Math.min(base * 2 ** failures.increment(key), max),
    forget: (key) => failures.forget(key),
    numRequeues: (key) => failures.of(key),
  }
}

/** Delays of {@link itemFastSlowRateLimiter}. */
export interface FastSlowOptions {
  readonly fast: Duration
  readonly slow: Duration
  /** How many retries of a key use the `fast` delay. */
  readonly maxFastAttempts: number
}

/** Gives each key `maxFastAttempts` fast retries, then slow ones. */
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

/** Options of {@link bucketRateLimiter}. */
export interface BucketOptions {
  readonly clock: Clock
  /** Tokens added per second. @default 10 */
  readonly qps?: number | undefined
  /** The capacity of the bucket. @default 100 */
  readonly burst?: number | undefined
}

/** A token bucket shared by all keys: limits the overall rate of retries. Does not count failures of single keys. */
export function bucketRateLimiter<K = string>(options: BucketOptions): RateLimiter<K> {
  const { clock, qps = 10, burst = 100 } = options
  if (!(qps > 0)) throw new RangeError(`qps must be greater than 0: ${qps}`)
  if (!(burst >= 1)) throw new RangeError(`burst must be at least 1: ${burst}`)
  // Negative while reservations are outstanding: each caller waits behind the earlier ones.
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

/** Uses the longest delay of several limiters. Each of them counts every retry. */
export function maxOfRateLimiter<K = string>(...limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    when: (key) => limiters.reduce((longest, limiter) => Math.max(longest, limiter.when(key)), 0),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key)
    },
    numRequeues: (key) => limiters.reduce((most, limiter) => Math.max(most, limiter.numRequeues(key)), 0),
  }
}

/** Limits the delays of another limiter to `max`. */
export function withMaxWait<K = string>(limiter: RateLimiter<K>, max: Duration): RateLimiter<K> {
  const limit = toMillis(max)
  return {
    when: (key) => Math.min(limiter.when(key), limit),
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  }
}

/**
 * Extends each delay by a random share of up to `factor`, so that keys that failed together are not retried together.
 */
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

/**
 * The default limiter of client-go: per key exponential from 5 ms to 1000 s, and 10 retries per second with a burst of
 * 100 overall.
 */
export function defaultRateLimiter<K = string>(options: { readonly clock: Clock }): RateLimiter<K> {
  return maxOfRateLimiter(itemExponentialRateLimiter<K>(), bucketRateLimiter<K>(options))
}

/** Failures per key. Holds entries only for keys that failed since their last `forget`. */
class FailureCounts<K> {
  readonly #counts = new Map<K, number>()

  of(key: K): number {
    return this.#counts.get(key) ?? 0
  }

  /** Increments the count and returns its previous value. */
  increment(key: K): number {
    const before = this.of(key)
    this.#counts.set(key, before + 1)
    return before
  }

  forget(key: K): void {
    this.#counts.delete(key)
  }
}
