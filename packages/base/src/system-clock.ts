import { type Clock, sleepWith, type Timer, type WaitOptions } from './clock.ts'

// setTimeout fires immediately for delays above 2^31-1 ms, so longer delays use several timeouts.
const LONGEST_TIMEOUT = 2 ** 31 - 1

class SystemTimer implements Timer {
  #handle: ReturnType<typeof setTimeout> | undefined

  constructor(delay: number, callback: () => void) {
    if (delay !== Number.POSITIVE_INFINITY) this.#arm(delay, callback)
  }

  #arm(remaining: number, callback: () => void): void {
    if (remaining <= LONGEST_TIMEOUT) this.#handle = setTimeout(callback, Math.max(0, remaining))
    else this.#handle = setTimeout(() => this.#arm(remaining - LONGEST_TIMEOUT, callback), LONGEST_TIMEOUT)
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }

  [Symbol.dispose](): void {
    this.cancel()
  }
}

class SystemClock implements Clock {
  // The millisecond of the last nowMicros call, and the monotonic time of the first call within that millisecond.
  #millisecond = 0
  #seenAt = 0

  now(): number {
    return Date.now()
  }

  // Counts microseconds from the first call within each millisecond. The result therefore never contradicts Date.now(),
  // from which performance.timeOrigin drifts, and never decreases within a millisecond.
  nowMicros(): number {
    const millisecond = Date.now()
    const elapsed = performance.now()
    if (millisecond !== this.#millisecond) {
      this.#millisecond = millisecond
      this.#seenAt = elapsed
      return millisecond * 1000
    }
    return millisecond * 1000 + Math.min(999, Math.floor((elapsed - this.#seenAt) * 1000))
  }

  monotonic(): number {
    return performance.now()
  }

  setTimer(delay: number, callback: () => void): Timer {
    if (Number.isNaN(delay)) throw new RangeError('timer delay must be a number: NaN')
    return new SystemTimer(delay, callback)
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback) => this.setTimer(ms, callback), delay, options)
  }
}

/** The clock of the machine. Its pending timers keep the process alive, like Node's own timers. */
export const systemClock: Clock = new SystemClock()

/**
 * Resolves when the queues of promise reactions and of `process.nextTick` are both empty: every promise chain that
 * depends only on other promises has run as far as it can. Node runs an immediate only in that state, so this takes one
 * turn of the event loop. It does not wait for I/O, worker threads or real timers.
 */
export function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

// In milliseconds: long enough to make the overhead negligible, short enough to keep timers and sockets responsive.
const longestSlice = 10
let lastTurn = 0
let nextTurn: Promise<void> | undefined

/**
 * Keeps long promise-only work from starving timers, signals and sockets. Returns a promise to await when the event
 * loop should get a turn, else undefined: `const turn = turnWhenDue(); if (turn) await turn`. All callers share one
 * turn.
 */
export function turnWhenDue(): Promise<void> | undefined {
  if (nextTurn === undefined && performance.now() - lastTurn > longestSlice) {
    nextTurn = drainMicrotasks().then(() => {
      nextTurn = undefined
      lastTurn = performance.now()
    })
  }
  return nextTurn
}
