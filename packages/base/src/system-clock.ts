import { type Clock, sleepWith, type Timer, type WaitOptions } from './clock.ts'

// setTimeout fires at once for delays beyond 2^31-1 ms; longer waits are made of several.
const LONGEST_TIMEOUT = 2 ** 31 - 1

class SystemClock implements Clock {
  // The millisecond that nowMicros last saw, and the monotonic time at which it was first seen.
  #millisecond = 0
  #seenAt = 0

  now(): number {
    return Date.now()
  }

  // Microseconds are counted from the first reading within each millisecond, so that the result never contradicts Date.now()
  // (performance.timeOrigin would drift from it) and does not go back within one millisecond.
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
    let handle: ReturnType<typeof setTimeout> | undefined
    const arm = (remaining: number): void => {
      if (remaining <= LONGEST_TIMEOUT) handle = setTimeout(callback, Math.max(0, remaining))
      else handle = setTimeout(() => arm(remaining - LONGEST_TIMEOUT), LONGEST_TIMEOUT)
    }
    if (delay !== Number.POSITIVE_INFINITY) arm(delay)
    const cancel = (): void => clearTimeout(handle)
    return { cancel, [Symbol.dispose]: cancel }
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback) => this.setTimer(ms, callback), delay, options)
  }
}

/** The clock of the machine. Its pending timers keep the process alive, as Node's own do. */
export const systemClock: Clock = new SystemClock()

/**
 * Resolves when the queues of promise reactions and of `process.nextTick` are both empty: every promise chain that waits for
 * nothing but other promises has gone as far as it can. Node runs an immediate only in that state, so this takes one turn of the
 * event loop and no time; it does not wait for I/O, worker threads or real timers.
 */
export function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

// Long enough to cost nothing, short enough for nobody to notice.
const longestSlice = 10
let lastTurn = 0
let nextTurn: Promise<void> | undefined

/**
 * For work that waits for nothing but promises, which can go on for seconds while timers, signals and sockets starve: a promise to
 * wait for when it is time to let them have their turn, else undefined.
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
