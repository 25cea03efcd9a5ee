import { Backoff, type BackoffOptions } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Options of `retry`. */
export interface RetryOptions {
  readonly clock: Clock
  readonly random: Random
  /** The delays between attempts. `steps` is the maximum number of attempts and may be `Infinity`. */
  readonly backoff: BackoffOptions & { readonly steps: number }
  /** Stops retrying: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Reports whether an error is worth another attempt. @default always true */
  readonly retryIf?: ((error: unknown, attempt: number) => boolean) | undefined
}

/**
 * Calls `fn` with the attempt number, starting at 1, until it succeeds, and resolves to its result. Rejects with the
 * last error when the attempts are used up or `retryIf` returns false. Unlike wait.ExponentialBackoff, reaching the cap
 * does not end the attempts.
 */
export async function retry<T>(fn: (attempt: number) => T | PromiseLike<T>, options: RetryOptions): Promise<T> {
  const { clock, random, signal, retryIf = () => true } = options
  const attempts = options.backoff.steps
  if (!(attempts >= 1)) throw new RangeError(`backoff.steps must be at least 1: ${attempts}`)
  const backoff = new Backoff(options.backoff, random)
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    try {
      return await fn(attempt)
    } catch (error) {
      // If the abort made the attempt fail, report the abort reason instead of the failure.
      signal?.throwIfAborted()
      if (attempt >= attempts || !retryIf(error, attempt)) throw error
    }
    await clock.sleep(backoff.step(), { signal })
  }
}
