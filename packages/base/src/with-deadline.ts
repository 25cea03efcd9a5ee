import type { Clock, WaitOptions } from './clock.ts'
import { type Duration, formatDuration, toMillis } from './duration.ts'
import { KubewrightError } from './kubewright-error.ts'
import { abortable, linkSignals } from './link-signals.ts'

/**
 * Runs `fn` for at most `limit`. When the time is up, the promise rejects at once with an error of code `KW_DEADLINE_EXCEEDED` that
 * says `what` took too long, and the signal that `fn` was given aborts with that same error. `what` is a phrase for people, such as
 * `list Home (ajd.example.com/v1)`. The signal of the options ends it early, with its own reason.
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
