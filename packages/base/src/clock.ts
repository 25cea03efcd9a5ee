import { onAbort } from './on-abort.ts'

/** A pending callback of a `Clock`; cancelling (or disposing) it twice, or after it ran, does nothing. */
export interface Timer extends Disposable {
  /** Guarantees that the callback will not run from now on, unless it already has. */
  cancel(): void
}

/** Options of every call that waits. */
export interface WaitOptions {
  /** Ends the wait early: the returned promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The only source of time in Kubewright: whatever reads the time or waits takes a `Clock`.
 *
 * Wall time (`now`, `nowMicros`) may be stepped by an administrator; elapsed time must be measured with `monotonic`.
 * Delays are milliseconds; fractions are kept down to a microsecond where the implementation can.
 */
export interface Clock {
  /** Wall time as whole milliseconds since the Unix epoch. */
  now(): number
  /** Wall time as whole microseconds since the Unix epoch, for `MicroTime`; stays a safe integer until the year 2255. */
  nowMicros(): number
  /** Milliseconds since an arbitrary start; never goes back and is not affected by changes of the wall time. */
  monotonic(): number
  /**
   * Runs `callback` once, never synchronously, when `delay` milliseconds have passed. A delay of zero or less means as soon as
   * possible, `Infinity` means never, `NaN` is a RangeError. `label` names the timer where pending timers are shown.
   */
  setTimer(delay: number, callback: () => void, label?: string): Timer
  /** Resolves when `delay` milliseconds have passed; rejects with the signal's reason as soon as the signal is aborted. */
  sleep(delay: number, options?: WaitOptions): Promise<void>
}

/** Gives a sleep on top of any `setTimer`: for implementations of `Clock`. */
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
 * Calls `callback` every `period` milliseconds until the returned timer is cancelled, first after one period.
 * The rate is fixed: a late call does not delay the following ones, and periods that were missed altogether are skipped.
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
