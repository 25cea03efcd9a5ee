import { type Clock, type Duration, type Logger, toMillis } from '@kubewright/base'
import type { HealthCheck } from '../serving/health/health-check.ts'
import {
  describeMissing,
  type MissingAccess,
  missingAccessError,
  type PreflightOptions,
  preflight,
} from './preflight.ts'

/** What {@link watchAccess} takes. */
export interface WatchAccessOptions extends Omit<PreflightOptions, 'signal'> {
  readonly clock: Clock
  readonly log: Logger
  /** How often the API server is asked again while rights are missing. @default '10s' */
  readonly interval?: Duration | undefined
  readonly signal: AbortSignal
}

/** Knows whether an operator has the rights that it needs. */
export interface AccessWatch {
  /** What is missing as far as is known; empty when all is well, undefined before the first answer. */
  readonly missing: readonly MissingAccess[] | undefined
  /** Fails while rights are missing, naming them. */
  readonly check: HealthCheck
  /** Resolves when nothing is missing any more, or the signal has aborted. */
  readonly done: Promise<void>
}

/**
 * Asks for the rights of an operator in the background, and again until it has all of them: what is missing is logged once for each
 * change, and granting it is noticed without a restart.
 */
export function watchAccess(options: WatchAccessOptions): AccessWatch {
  const { clock, log, signal } = options
  const interval = toMillis(options.interval ?? '10s')
  let missing: readonly MissingAccess[] | undefined
  let said = ''

  const ask = async (): Promise<boolean> => {
    missing = await preflight(options)
    const text = missing.length === 0 ? '' : describeMissing(missing)
    if (text !== said) {
      if (text === '') log.info('All missing permissions were granted')
      else log.error(missingAccessError(missing), 'Permissions are missing')
    }
    said = text
    return text === ''
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // An API server that cannot be asked is somebody else's message: caches say it first.
      const isDone = await ask().catch((error: unknown) => {
        if (!signal.aborted) log.debug('Could not ask for permissions', { error })
        return false
      })
      if (isDone) return
      await clock.sleep(interval, { signal }).catch(() => undefined)
    }
  }

  return {
    get missing() {
      return missing
    },
    check: {
      name: 'rbac',
      check: () => {
        if (missing !== undefined && missing.length > 0) throw missingAccessError(missing)
      },
    },
    done: run(),
  }
}
