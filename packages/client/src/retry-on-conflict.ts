import { isConflict } from '@kubewright/api'
import { type BackoffOptions, type Clock, type Random, retry, systemClock, systemRandom } from '@kubewright/base'

/** What {@link retryOnConflict} takes. */
export interface RetryOnConflictOptions {
  /** @default that of client-go's retry.DefaultRetry: five attempts, 10 ms apart */
  readonly backoff?: BackoffOptions & { readonly steps: number }
  readonly signal?: AbortSignal | undefined
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
}

const defaultRetry = { steps: 5, duration: 10, factor: 1, jitter: 0.1 } as const

/**
 * Calls `fn` again when it fails with a Conflict ApiError: somebody else changed the object meanwhile. `fn` has to read the object
 * itself, each time, before it changes it.
 */
export function retryOnConflict<T>(
  fn: (attempt: number) => Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  const { backoff = defaultRetry, clock = systemClock, random = systemRandom, signal } = options
  return retry(fn, { backoff, clock, random, signal, retryIf: isConflict })
}
