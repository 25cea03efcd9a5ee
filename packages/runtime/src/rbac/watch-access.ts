import { type Clock, type Duration, type Logger, toMillis } from '@kubewright/base'
import type { HealthCheck } from '../serving/health/health-check.ts'
import {
  describeMissing,
  type MissingAccess,
  missingAccessError,
  type PreflightOptions,
  preflight,
} from './preflight.ts'

/** Options of {@link watchAccess}. */
export interface WatchAccessOptions extends Omit<PreflightOptions, 'signal'> {
  readonly clock: Clock
  readonly log: Logger
  /** How often the API server is asked while permissions are missing. @default '10s' */
  readonly interval?: Duration | undefined
  readonly signal: AbortSignal
}

/** Whether an operator has the permissions that it needs. */
export interface AccessWatch {
  /** The missing permissions; undefined before the first result. */
  readonly missing: readonly MissingAccess[] | undefined
  /** Fails while permissions are missing, and names them. */
  readonly check: HealthCheck
  /** Resolves when no permission is missing, or the signal has aborted. */
  readonly done: Promise<void>
}

/**
 * Checks the permissions of an operator in the background until it has all of them. Missing permissions are logged
 * whenever they change; granting them needs no restart.
 */
export function watchAccess(options: WatchAccessOptions): AccessWatch {
  const { clock, log, signal } = options
  const interval = toMillis(options.interval ?? '10s')
  let missing: readonly MissingAccess[] | undefined
  let logged = ''

  const ask = async (): Promise<boolean> => {
    missing = await preflight(options)
    const text = missing.length === 0 ? '' : describeMissing(missing)
    if (text !== logged) {
      if (text === '') log.info('All missing permissions were granted')
      else log.error(missingAccessError(missing), 'Permissions are missing')
    }
    logged = text
    return text === ''
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // An unreachable API server is reported by the caches.
      const isDone = await ask().catch((error: unknown) => {
        if (!signal.aborted) log.debug('Permissions were not checked', { error })
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
