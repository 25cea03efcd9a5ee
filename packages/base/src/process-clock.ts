import { type Clock, sleepWith, type Timer, type WaitOptions } from './clock.ts'

interface Pending {
  readonly callback: () => void
  /** The timer of the other clock. */
  timer: Timer | undefined
}

/**
 * The clock of one simulated process. It follows another clock, but the process can have a wrong wall time, be paused,
 * or die. Timers of a paused process run when it resumes; those of a dead process never run.
 */
export class ProcessClock implements Clock {
  readonly #world: Clock
  readonly #pending = new Set<Pending>()
  // In order of their due times.
  readonly #overdue: Pending[] = []
  #skewMicros = 0
  #state: 'running' | 'paused' | 'dead' = 'running'

  constructor(world: Clock) {
    this.#world = world
  }

  now(): number {
    return Math.floor(this.nowMicros() / 1000)
  }

  nowMicros(): number {
    return this.#world.nowMicros() + this.#skewMicros
  }

  monotonic(): number {
    return this.#world.monotonic()
  }

  /** Moves the wall time by this many milliseconds relative to the other clock. Timers are not affected. */
  setSkew(millis: number): void {
    this.#skewMicros = Math.round(millis * 1000)
  }

  setTimer(delay: number, callback: () => void, label?: string): Timer {
    const pending: Pending = { callback, timer: undefined }
    const cancel = (): void => {
      pending.timer?.cancel()
      this.#pending.delete(pending)
    }
    if (this.#state !== 'dead') {
      this.#pending.add(pending)
      pending.timer = this.#world.setTimer(delay, () => this.#due(pending), label)
    }
    return { cancel, [Symbol.dispose]: cancel }
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback, label) => this.setTimer(ms, callback, label), delay, options)
  }

  /** Stops all timers until `resume`. The time goes on, as for a process that gets no CPU. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
  }

  /** Runs the timers that became due during the pause, in order. */
  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    for (const pending of this.#overdue.splice(0)) {
      if (this.#pending.has(pending)) pending.timer = this.#world.setTimer(0, () => this.#due(pending), 'overdue')
    }
  }

  /** Cancels all timers, and those that the remaining code of the process sets later. */
  kill(): void {
    this.#state = 'dead'
    for (const { timer } of this.#pending) timer?.cancel()
    this.#pending.clear()
    this.#overdue.length = 0
  }

  #due(pending: Pending): void {
    if (this.#state === 'paused') {
      this.#overdue.push(pending)
      return
    }
    this.#pending.delete(pending)
    pending.callback()
  }
}
