import { type Clock, sleepWith, type Timer, type WaitOptions } from './clock.ts'
import { type Duration, formatDuration, toMillis } from './duration.ts'
import { Heap } from './heap.ts'
import { KubewrightError } from './kubewright-error.ts'
import { drainMicrotasks } from './system-clock.ts'

/** A timer of a `VirtualClock` that has not run yet. */
export interface PendingTimer {
  /** The wall time, in milliseconds since the epoch, at which it is due. */
  readonly due: number
  /** Milliseconds from now until then. */
  readonly delay: number
  /** Timers are numbered in the order of their creation; among timers due at the same time the lower number runs first. */
  readonly sequence: number
  readonly label: string
}

/** How a `VirtualClock` starts and how it lets other code run. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. @default 2025-01-01T00:00:00Z */
  readonly start?: number
  /**
   * Waits until all code that can run without time passing has run. Called before the first timer and after each timer of an
   * advance. @default drainMicrotasks
   */
  readonly settle?: () => Promise<void>
}

/** Limits of `VirtualClock.runUntilIdle`. */
export interface RunUntilIdleOptions {
  /** The number of timers after which the run is given up with an error that names the pending ones. @default 10000 */
  readonly limit?: number
}

interface Entry {
  readonly sequence: number
  // In microseconds since the start of the clock.
  readonly due: number
  readonly callback: () => void
  readonly label: string
}

const DEFAULT_START = 1_735_689_600_000

/**
 * A clock whose time passes only when it is told to, for tests and for deterministic simulation.
 *
 * - Timers run in the order of their due time, and in the order of creation among those due at the same time, each at exactly its
 *   due time. A timer that a callback creates within the window of an advance runs in that same advance.
 * - Before the first timer and after each timer of an advance, all code that can run does run (see `settle`), so what one timer
 *   sets off happens entirely before the next timer. With the same code and the same calls, every run is the same.
 * - An error thrown by a callback ends the advance, which rejects with it. The time stays where the timer was due and the other
 *   timers stay pending, so a further advance continues from there.
 * - Only one advance can be in progress; a second one, also from inside a callback, is rejected.
 *
 * Delays are rounded to microseconds, so that time adds up exactly.
 */
export class VirtualClock implements Clock {
  readonly #timers = new Heap<Entry, number>({ key: (entry) => entry.sequence, compare: (a, b) => a.due - b.due })
  readonly #settle: () => Promise<void>
  // Microseconds since the epoch at the moment when #elapsed was zero.
  #epoch: number
  // Microseconds since the start; never decreases.
  #elapsed = 0
  #sequence = 0
  #advancing = false

  constructor(options: VirtualClockOptions = {}) {
    this.#epoch = Math.round((options.start ?? DEFAULT_START) * 1000)
    this.#settle = options.settle ?? drainMicrotasks
  }

  now(): number {
    return Math.floor(this.nowMicros() / 1000)
  }

  nowMicros(): number {
    return this.#epoch + this.#elapsed
  }

  /** Milliseconds since the clock was made. */
  monotonic(): number {
    return this.#elapsed / 1000
  }

  setTimer(delay: number, callback: () => void, label: string = 'timer'): Timer {
    if (Number.isNaN(delay)) throw new RangeError('timer delay must be a number: NaN')
    const sequence = this.#sequence++
    if (delay !== Number.POSITIVE_INFINITY) {
      this.#timers.set({ sequence, due: this.#elapsed + Math.max(0, Math.round(delay * 1000)), callback, label })
    }
    const cancel = (): void => void this.#timers.delete(sequence)
    return { cancel, [Symbol.dispose]: cancel }
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback, label) => this.setTimer(ms, callback, label), delay, options)
  }

  /** The timers that have not run, in the order in which they will. */
  get pending(): readonly PendingTimer[] {
    return this.#timers.sorted().map((entry) => ({
      due: (this.#epoch + entry.due) / 1000,
      delay: (entry.due - this.#elapsed) / 1000,
      sequence: entry.sequence,
      label: entry.label,
    }))
  }

  /** Sets the wall time, as an administrator might: elapsed time and the timers are not affected. */
  setNow(epochMillis: number): void {
    this.#epoch = Math.round(epochMillis * 1000) - this.#elapsed
  }

  /** Lets `duration` pass, running all timers that fall due, the last instant included. */
  advance(duration: Duration): Promise<void> {
    return this.#exclusively(async () => {
      const micros = Math.round(toMillis(duration) * 1000)
      if (!(micros >= 0 && micros <= Number.MAX_SAFE_INTEGER)) {
        throw new RangeError(`duration must be finite and not negative: ${duration}`)
      }
      const end = this.#elapsed + micros
      await this.#settle()
      while ((this.#timers.peek()?.due ?? Number.POSITIVE_INFINITY) <= end) await this.#runNext()
      this.#elapsed = end
    })
  }

  /** Lets time pass until the next timer is due and runs that one timer; resolves to false when there is none. */
  advanceToNext(): Promise<boolean> {
    return this.#exclusively(async () => {
      await this.#settle()
      return this.#runNext()
    })
  }

  /**
   * Lets time pass until no timer is pending and resolves to the number of timers that ran. Rejects when `limit` timers have run
   * and there are still more, as with a periodic timer there always will be.
   */
  runUntilIdle(options: RunUntilIdleOptions = {}): Promise<number> {
    const limit = options.limit ?? 10_000
    return this.#exclusively(async () => {
      await this.#settle()
      for (let count = 0; ; count++) {
        if (this.#timers.size === 0) return count
        if (count >= limit) throw this.#notIdle(limit)
        await this.#runNext()
      }
    })
  }

  async #exclusively<T>(run: () => Promise<T>): Promise<T> {
    if (this.#advancing) {
      throw new KubewrightError(
        'KW_CLOCK_BUSY',
        'Cannot advance the clock: another advance is in progress, await it first',
      )
    }
    this.#advancing = true
    try {
      return await run()
    } finally {
      this.#advancing = false
    }
  }

  async #runNext(): Promise<boolean> {
    const next = this.#timers.pop()
    if (next === undefined) return false
    this.#elapsed = next.due
    next.callback()
    await this.#settle()
    return true
  }

  #notIdle(limit: number): KubewrightError {
    const shown = this.pending.slice(0, 5).map((timer) => `${timer.label} in ${formatDuration(timer.delay)}`)
    const more = this.#timers.size > shown.length ? ` and ${this.#timers.size - shown.length} more` : ''
    const message = `Cannot run until idle: after ${limit} timers these are pending: ${shown.join(', ')}${more}`
    return new KubewrightError('KW_CLOCK_NOT_IDLE', message)
  }
}
