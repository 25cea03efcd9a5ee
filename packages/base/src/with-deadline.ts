import type { Clock, WaitOptions } from './clock.ts'
import { type Duration, formatDuration, toMillis } from './duration.ts'
import { KubewrightError } from './kubewright-error.ts'
import { abortable, linkSignals } from './link-signals.ts'

/**
 * Runs `fn` for at most `limit`. On timeout, the promise rejects with a `KW_DEADLINE_EXCEEDED` error that names the
 * operation, and the signal passed to `fn` aborts with the same error. `what` names the operation for people, for
 * example `list Home (ajd.example.com/v1)`. If the signal in `options` aborts, the promise rejects with its reason.
 */
export async function withDeadline<T>(
  clock: Clock,
  limit: Duration,
  what: string,
  fn: (signal: AbortSignal) => PromiseLike<T>,
  options: WaitOptions = {},
): Promise<T> {
  const link = linkSignals(options.signal)
  link.signal.throwIfAborted()
  const onTimeout = (): void => {
    link.abort(new KubewrightError('KW_DEADLINE_EXCEEDED', `Timed out after ${formatDuration(limit)}: ${what}`))
  }
  const timer = clock.setTimer(toMillis(limit), onTimeout, `deadline: ${what}`)
  try {
    return await abortable(fn(link.signal), link.signal)
  } finally {
    timer.cancel()
    link[Symbol.dispose]()
  }
}
