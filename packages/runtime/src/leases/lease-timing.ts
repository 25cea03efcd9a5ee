import { type Duration, formatDuration, toMillis } from '@kubewright/base'

/** How fast replicas notice that one of them is gone. All of them should use the same values. */
export interface LeaseTimingOptions {
  /** How long others wait before they take over from a silent replica. Rounded up to whole seconds. @default '15s' */
  readonly leaseDuration?: Duration
  /** How long a replica may go without a successful renewal before it stops to write. @default '10s' */
  readonly renewDeadline?: Duration
  /** The time between two attempts to renew or to acquire. @default '2s' */
  readonly retryPeriod?: Duration
}

/** The timing of a lease in milliseconds, checked. */
export interface LeaseTiming {
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  /** How long one request may take, so that a hanging one leaves time for another before the deadline. */
  readonly requestTimeout: number
}

/** Attempts to acquire are spread by up to this part of the retry period, as client-go does. */
export const acquireJitter = 1.2

/**
 * Fills the defaults and checks that a leader gives up before others take over and has time for more than one attempt:
 * `leaseDuration > renewDeadline > 1.2 × retryPeriod`. `what` names the value in errors, such as `operator "home"`.
 */
export function resolveLeaseTiming(options: LeaseTimingOptions, what: string): LeaseTiming {
  const { leaseDuration = '15s', renewDeadline = '10s', retryPeriod = '2s' } = options
  // Records carry whole seconds: what others are told must not be shorter than what is meant.
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
