import { type Duration, formatDuration, KubewrightError, toMillis } from '@kubewright/base'
import type { TimeDriver } from './time-driver.ts'

/** Options of a repeated check. */
export interface PollOptions {
  /** How long to check. */
  readonly limit: Duration
  /** The time between two calls. */
  readonly interval: Duration
  readonly time: TimeDriver
  readonly signal: AbortSignal
}

/** Not a check that passed: it threw, or returned false. */
interface Failed {
  readonly error: unknown
}

/** Calls a check until it passes. Returns its result; when the time is over, the failure of the last call. */
export async function untilItPasses<T>(
  check: () => T | Promise<T>,
  options: PollOptions,
): Promise<{ readonly value: T } | Failed> {
  const { limit, time, signal } = options
  const end = time.clock.now() + toMillis(limit)
  for (;;) {
    const result = await attempt(check, time)
    if (!('error' in result) || time.clock.now() >= end) return result
    signal.throwIfAborted()
    await pause(end, options)
  }
}

/** Calls a check as long as it passes. Rejects with its failure; resolves when the time is over. */
export async function whileItPasses(check: () => unknown, options: PollOptions): Promise<Failed | undefined> {
  const { limit, time, signal } = options
  const end = time.clock.now() + toMillis(limit)
  for (;;) {
    const result = await attempt(check, time)
    if ('error' in result) return result
    if (time.clock.now() >= end) return undefined
    signal.throwIfAborted()
    await pause(end, options)
  }
}

async function pause(end: number, { time, interval, signal }: PollOptions): Promise<void> {
  const left = end - time.clock.now()
  await time.wait(time.clock.sleep(Math.min(left, toMillis(interval)), { signal }))
}

async function attempt<T>(check: () => T | Promise<T>, time: TimeDriver): Promise<{ readonly value: T } | Failed> {
  try {
    const value = await time.wait(Promise.resolve().then(check))
    return value === false ? { error: new Error('the function returned false') } : { value }
  } catch (error) {
    return { error }
  }
}

/** The error of a check that did not pass. Its cause is the failure of the check, which test runners print. */
export function pollError(what: string, limit: Duration, error: unknown, more: string): KubewrightError {
  const problem = error instanceof Error ? error.message : String(error)
  const text = `${what.replace('%s', formatDuration(limit))}: ${problem}${more === '' ? '' : `\n\n${more}`}`
  return new KubewrightError('KW_TEST_TIMEOUT', text, { cause: error })
}
