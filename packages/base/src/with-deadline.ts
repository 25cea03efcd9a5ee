import type { Clock, WaitOptions } from './clock.ts'
import { type Duration, formatDuration, toMillis } from './duration.ts'
import { KubewrightError } from './kubewright-error.ts'
import { type LazySignal, linkSignals } from './link-signals.ts'

/**
 * Runs `fn` for at most `limit`. On timeout, the promise rejects with a `KW_DEADLINE_EXCEEDED` error that names the
 * operation, and the signal passed to `fn` aborts with the same error. `what` names the operation for people, for
 * example `list Home (ajd.example.com/v1)`. If the signal in `options` aborts, the promise rejects with its reason.
 */
export function withDeadline<T>(
  clock: Clock,
  limit: Duration,
  what: string,
  fn: (signal: AbortSignal) => PromiseLike<T>,
  options: WaitOptions = {},
): Promise<T> {
  return withLazyDeadline(clock, limit, what, ({ signal }) => fn(signal), options)
}

/** As {@link withDeadline}, for work that may end without reading its signal. */
export function withLazyDeadline<T>(
  clock: Clock,
  limit: Duration,
  what: string,
  fn: (limited: LazySignal) => PromiseLike<T>,
  options: WaitOptions = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const link = linkSignals(options.signal)
    if (link.aborted) {
      reject(link.reason)
      return
    }
    const onTimeout = (): void => {
      link.abort(new KubewrightError('KW_DEADLINE_EXCEEDED', `Timed out after ${formatDuration(limit)}: ${what}`))
    }
    const timer = clock.setTimer(toMillis(limit), onTimeout, `deadline: ${what}`)
    const end = (): void => {
      timer.cancel()
      link[Symbol.dispose]()
    }
    link.onAbort(() => {
      end()
      reject(link.reason)
    })
    const fail = (error: unknown): void => {
      end()
      reject(error)
    }
    try {
      fn(link).then((value) => {
        end()
        resolve(value)
      }, fail)
    } catch (error) {
      fail(error)
    }
  })
}
