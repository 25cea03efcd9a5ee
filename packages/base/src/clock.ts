import { onAbort } from './on-abort.ts'

/** A pending callback of a `Clock`. Cancelling or disposing it again, or after it has run, has no effect. */
export interface Timer extends Disposable {
  /** Prevents the callback from running, unless it has run already. */
  cancel(): void
}

/** Options of calls that wait. */
export interface WaitOptions {
  /** Ends the wait early: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The only source of time in Kubewright: code that reads the time or waits takes a `Clock`.
 *
 * Wall time (`now`, `nowMicros`) may jump when an administrator sets it; measure elapsed time with `monotonic`. Delays
 * are in milliseconds. Fractions are kept down to a microsecond where the implementation supports it.
 */
export interface Clock {
  /** Wall time as whole milliseconds since the Unix epoch. */
  now(): number
  /** Wall time as whole microseconds since the Unix epoch, for `MicroTime`. A safe integer until the year 2255. */
  nowMicros(): number
  /** Milliseconds since an arbitrary start. Never decreases, and is independent of the wall time. */
  monotonic(): number
  /**
   * Runs `callback` once, never synchronously, after `delay` milliseconds. A delay of zero or less means as soon as
   * possible, `Infinity` means never, `NaN` throws a RangeError. `label` names the timer in lists of pending timers.
   */
  setTimer(delay: number, callback: () => void, label?: string): Timer
  /** Resolves after `delay` milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
  sleep(delay: number, options?: WaitOptions): Promise<void>
}

/** Implements `Clock.sleep` on top of `setTimer`; for implementations of `Clock`. */
export function sleepWith(setTimer: Clock['setTimer'], delay: number, options?: WaitOptions): Promise<void> {
  const signal = options?.signal
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const onTimer = (): void => {
      stopListening()
      resolve()
    }
    const timer = setTimer(delay, onTimer, 'sleep')
    const stopListening = onAbort(signal, () => {
      timer.cancel()
      reject(signal?.reason)
    })
  })
}

/**
 * Calls `callback` every `period` milliseconds, for the first time after one period, until the returned timer is
 * cancelled. The rate is fixed: a late call does not delay later calls, and periods that have passed completely are
 * skipped.
 */
export function every(clock: Clock, period: number, callback: () => void, label?: string): Timer {
  if (!(period > 0)) throw new RangeError(`period must be greater than 0: ${period}`)
  let due = clock.monotonic() + period
  const tick = (): void => {
    const late = clock.monotonic() - due
    due += period * (late > 0 ? Math.floor(late / period) + 1 : 1)
    timer = clock.setTimer(due - clock.monotonic(), tick, label)
    callback()
  }
  let timer = clock.setTimer(period, tick, label)
  const cancel = (): void => timer.cancel()
  return { cancel, [Symbol.dispose]: cancel }
}
