import type { Clock } from '@kubewright/base'
import type { RestClientOptions } from '@kubewright/client'
import { bucketRateLimiter } from '../queue/rate-limiter.ts'

/** Options of {@link limitRequests}. */
export interface RequestLimit {
  /** Requests per second. */
  readonly qps: number
  /** Requests that may be sent at once. */
  readonly burst: number
}

/** Delays the requests of a client that exceed a rate; pass the result as the client's `around` option. */
export function limitRequests({ qps, burst }: RequestLimit, clock: Clock): NonNullable<RestClientOptions['around']> {
  const limiter = bucketRateLimiter<null>({ clock, qps, burst })
  return async (_, call) => {
    const delay = limiter.when(null)
    if (delay > 0) await clock.sleep(delay)
    return call()
  }
}
