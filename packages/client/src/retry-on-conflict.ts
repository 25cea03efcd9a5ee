import { isConflict } from '@kubewright/api'
import { type BackoffOptions, type Clock, type Random, retry, systemClock, systemRandom } from '@kubewright/base'

/** Options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions {
  /** @default that of client-go's retry.DefaultRetry: five attempts, 10 ms apart */
  readonly backoff?: (BackoffOptions & { readonly steps: number }) | undefined
  readonly signal?: AbortSignal | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random source */
  readonly random?: Random | undefined
}

const defaultRetry = { steps: 5, duration: 10, factor: 1, jitter: 0.1 } as const

/**
 * Calls `fn` again when it fails with a Conflict ApiError, that is, when another writer changed the object in the
 * meantime. `fn` must read the object itself on each call before changing it.
 */
export function retryOnConflict<T>(
  fn: (attempt: number) => Promise<T>,
  options: RetryOnConflictOptions = {},
): Promise<T> {
  const { backoff = defaultRetry, clock = systemClock, random = systemRandom, signal } = options
  return retry(fn, { backoff, clock, random, signal, retryIf: isConflict })
}
