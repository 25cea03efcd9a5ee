import { type Duration, formatDuration, toMillis } from '@kubewright/base'

/** How fast replicas detect that another one has failed. All replicas should use the same values. */
export interface LeaseTimingOptions {
  /** How long a Lease is valid without a renewal. Rounded up to whole seconds. @default '15s' */
  readonly leaseDuration?: Duration | undefined
  /** How long a replica may go without a successful renewal before it stops writing. @default '10s' */
  readonly renewDeadline?: Duration | undefined
  /** The time between two attempts to renew or to acquire. @default '2s' */
  readonly retryPeriod?: Duration | undefined
}

/** The validated timing of a Lease, in milliseconds. */
export interface LeaseTiming {
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  /** The time limit of one request: a hanging request leaves time for another one before the deadline. */
  readonly requestTimeout: number
}

/** The jitter factor of attempts to acquire, as in client-go. */
export const acquireJitter = 1.2

/**
 * Applies the defaults and validates `leaseDuration > renewDeadline > 1.2 × retryPeriod`: a leader must stop before
 * another may start, and must have time for more than one attempt. `what` names the subject in errors, such as
 * `operator "home"`.
 */
export function resolveLeaseTiming(options: LeaseTimingOptions, what: string): LeaseTiming {
  const { leaseDuration = '15s', renewDeadline = '10s', retryPeriod = '2s' } = options
  // Leases store whole seconds. Rounding down would let others take over too early.
  const lease = Math.ceil(toMillis(leaseDuration) / 1000) * 1000
  const renew = toMillis(renewDeadline)
  const retry = toMillis(retryPeriod)
  if (!(retry > 0)) {
    throw new RangeError(
      `Cannot define ${what} as 'retryPeriod' must be greater than zero: current value is ${formatDuration(retry)}`,
    )
  }
  if (!(lease > renew)) {
    throw new RangeError(
      `Cannot define ${what} as 'leaseDuration' (${formatDuration(lease)}) must be greater than 'renewDeadline' ` +
        `(${formatDuration(renew)}): a leader must stop before another may start`,
    )
  }
  if (!(renew > acquireJitter * retry)) {
    throw new RangeError(
      `Cannot define ${what} as 'renewDeadline' (${formatDuration(renew)}) must be greater than ${acquireJitter} times ` +
        `'retryPeriod' (${formatDuration(retry)}): one failed attempt must not cost the lease`,
    )
  }
  return Object.freeze({
    leaseDuration: lease,
    renewDeadline: renew,
    retryPeriod: retry,
    requestTimeout: Math.max(1000, renew / 2),
  })
}
