import { Backoff, type BackoffOptions } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Options of `retry`. */
export interface RetryOptions {
  readonly clock: Clock
  readonly random: Random
  /** The delays between attempts; `steps` is the greatest number of attempts and may be `Infinity`. */
  readonly backoff: BackoffOptions & { readonly steps: number }
  /** Ends the retrying: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Whether an error is worth another attempt. @default always */
  readonly retryIf?: (error: unknown, attempt: number) => boolean
}

/**
 * Calls `fn`, with the number of the attempt from 1, until it succeeds, and resolves to its result. Rejects with the last error
 * when the attempts are used up or `retryIf` declines. Unlike wait.ExponentialBackoff, reaching the cap does not end the attempts.
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
      // An attempt that fails because of the abort itself must not be told apart from one that was never made.
      signal?.throwIfAborted()
      if (attempt >= attempts || !retryIf(error, attempt)) throw error
    }
    await clock.sleep(backoff.step(), { signal })
  }
}
