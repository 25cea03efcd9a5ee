import { type Clock, sleepWith, type Timer, type WaitOptions } from './clock.ts'
import { type Duration, formatDuration, toMillis } from './duration.ts'
import { type QueuedTimer, TimerQueue } from './internal/timer-queue.ts'
import { KubewrightError } from './kubewright-error.ts'
import { drainMicrotasks } from './system-clock.ts'

/** A timer of a `VirtualClock` that has not run yet. */
export interface PendingTimer {
  /** Wall time in milliseconds since the epoch at which the timer is due. */
  readonly due: number
  /** Milliseconds until the timer is due. */
  readonly delay: number
  /**
   * The number of the timer in the order of creation. Among timers due at the same time, the lower number runs first.
   */
  readonly sequence: number
  readonly label: string
}

/** The start time of a `VirtualClock`, and how it lets other code run. */
export interface VirtualClockOptions {
  /** Wall time at the start, in milliseconds since the epoch. @default 2025-01-01T00:00:00Z */
  readonly start?: number | undefined
  /**
   * Waits until all code that can run without time passing has run. Called before the first timer and after each timer
   * of an advance. @default drainMicrotasks
   */
  readonly settle?: (() => Promise<void>) | undefined
  /**
   * The maximum number of timers that may run at one instant. When a program keeps setting timers that are due at once,
   * the advance fails with an error instead of never ending. @default 100000
   */
  readonly timersPerInstant?: number | undefined
}

/** Limits of `VirtualClock.runUntilIdle`. */
export interface RunUntilIdleOptions {
  /**
   * The maximum number of timers to run. If more are pending, the run fails with an error that names them. @default
   * 10000
   */
  readonly limit?: number | undefined
}

/** Its due time is in microseconds since the start of the clock. */
interface Entry extends QueuedTimer {
  readonly callback: () => void
  readonly label: string
}

const DEFAULT_START = 1_735_689_600_000

/**
 * A clock whose time passes only when the program advances it, for tests and deterministic simulation.
 *
 * - Timers run in the order of their due times; timers with the same due time run in the order of creation. Each runs
 *   at exactly its due time. A timer that a callback creates within the period of an advance runs in the same advance.
 * - Before the first timer and after each timer of an advance, all code that can run does run (see `settle`). The
 *   effects of one timer are therefore complete before the next timer runs, and the same calls give the same run every
 *   time.
 * - If a callback throws, the advance rejects with that error. The time stays at the due time of that timer, and the
 *   other timers stay pending, so that the next advance continues from there.
 * - Only one advance can be in progress. A second one, even from inside a callback, is rejected.
 *
 * Delays are rounded to microseconds, so that time adds up exactly.
 */
export class VirtualClock implements Clock {
  readonly #timers = new TimerQueue<Entry>()
  readonly #settle: () => Promise<void>
  readonly #timersPerInstant: number
  // The number of timers that have run since the time last moved.
  #ranNow = 0
  // Microseconds since the Unix epoch at the time when #elapsed was zero.
  #epoch: number
  // Microseconds since the clock was created; never decreases.
  #elapsed = 0
  #sequence = 0
  #advancing = false

  constructor(options: VirtualClockOptions = {}) {
    this.#epoch = Math.round((options.start ?? DEFAULT_START) * 1000)
    this.#settle = options.settle ?? drainMicrotasks
    this.#timersPerInstant = options.timersPerInstant ?? 100_000
  }

  now(): number {
    return Math.floor(this.nowMicros() / 1000)
  }

  nowMicros(): number {
    return this.#epoch + this.#elapsed
  }

  /** Milliseconds since the clock was created. */
  monotonic(): number {
    return this.#elapsed / 1000
  }

  setTimer(delay: number, callback: () => void, label: string = 'timer'): Timer {
    if (Number.isNaN(delay)) throw new RangeError('timer delay must be a number: NaN')
    const due = this.#elapsed + Math.max(0, Math.round(delay * 1000))
    const entry: Entry = { due, sequence: this.#sequence++, index: -1, callback, label }
    if (delay !== Number.POSITIVE_INFINITY) this.#timers.push(entry)
    const cancel = (): void => this.#timers.remove(entry)
    return { cancel, [Symbol.dispose]: cancel }
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback, label) => this.setTimer(ms, callback, label), delay, options)
  }

  /** The pending timers, in the order in which they will run. */
  get pending(): readonly PendingTimer[] {
    return this.#timers.sorted().map((entry) => ({
      due: (this.#epoch + entry.due) / 1000,
      delay: (entry.due - this.#elapsed) / 1000,
      sequence: entry.sequence,
      label: entry.label,
    }))
  }

  /** Sets the wall time, like an administrator would. Elapsed time and timers are not affected. */
  setNow(epochMillis: number): void {
    this.#epoch = Math.round(epochMillis * 1000) - this.#elapsed
  }

  /** Advances the time by `duration` and runs all timers that become due, including those due at the last instant. */
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

  /** Advances the time to the next timer and runs it. Resolves to false if no timer is pending. */
  advanceToNext(): Promise<boolean> {
    return this.#exclusively(async () => {
      await this.#settle()
      return this.#runNext()
    })
  }

  /**
   * Advances the time until no timer is pending. Resolves to the number of timers that ran. Rejects if timers are still
   * pending after `limit` timers, which is always the case with a periodic timer.
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
    this.#ranNow = next.due > this.#elapsed ? 1 : this.#ranNow + 1
    this.#elapsed = next.due
    if (this.#ranNow > this.#timersPerInstant) throw this.#hotLoop(next.label)
    next.callback()
    await this.#settle()
    return true
  }

  #hotLoop(label: string): KubewrightError {
    const message = `Cannot advance the clock: ${this.#timersPerInstant} timers have run without time passing, the last one is "${label}": set timers with a delay`
    return new KubewrightError('KW_CLOCK_HOT_LOOP', message)
  }

  #notIdle(limit: number): KubewrightError {
    const shown = this.pending.slice(0, 5).map((timer) => `${timer.label} in ${formatDuration(timer.delay)}`)
    const more = this.#timers.size > shown.length ? ` and ${this.#timers.size - shown.length} more` : ''
    const message = `Cannot run until idle: timers are still pending after ${limit} have run: ${shown.join(', ')}${more}`
    return new KubewrightError('KW_CLOCK_NOT_IDLE', message)
  }
}
