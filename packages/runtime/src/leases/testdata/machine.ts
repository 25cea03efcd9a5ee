import { type Clock, sleepWith, type Timer, type VirtualClock, type WaitOptions } from '@kubewright/base'

/** How the clock of a machine differs from the true one. */
export interface MachineOptions {
  /** The speed of its clock: 1.05 gains 5 %. */
  readonly rate?: number
  /** The offset of its wall time, in milliseconds. */
  readonly offset?: number
}

/**
 * A machine with its own clock that can be paused, as by a frozen hypervisor, and killed. While it is paused, nothing
 * runs on it: timers and responses wait until it resumes.
 */
export class Machine implements Clock {
  readonly #truth: VirtualClock
  readonly #rate: number
  readonly #offset: number
  #state: 'running' | 'paused' | 'dead' = 'running'
  #waiting: (() => void)[] = []

  constructor(truth: VirtualClock, options: MachineOptions = {}) {
    this.#truth = truth
    this.#rate = options.rate ?? 1
    this.#offset = options.offset ?? 0
  }

  get running(): boolean {
    return this.#state === 'running'
  }

  now(): number {
    return this.#truth.now() + this.#offset
  }

  nowMicros(): number {
    return this.#truth.nowMicros() + this.#offset * 1000
  }

  monotonic(): number {
    return this.#truth.monotonic() * this.#rate + 1000
  }

  setTimer(delay: number, callback: () => void, label?: string): Timer {
    let cancelled = false
    const timer = this.#truth.setTimer(delay / this.#rate, () => this.run(() => void (cancelled || callback())), label)
    const cancel = (): void => {
      cancelled = true
      timer.cancel()
    }
    return { cancel, [Symbol.dispose]: cancel }
  }

  sleep(delay: number, options?: WaitOptions): Promise<void> {
    return sleepWith((ms, callback, label) => this.setTimer(ms, callback, label), delay, options)
  }

  /** Runs code on this machine: now, when it resumes, or never. */
  run(code: () => void): void {
    if (this.#state === 'running') code()
    else if (this.#state === 'paused') this.#waiting.push(code)
  }

  pause(): void {
    if (this.#state === 'running') this.#state = 'paused'
  }

  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    for (const code of this.#waiting.splice(0)) this.run(code)
  }

  kill(): void {
    this.#state = 'dead'
    this.#waiting = []
  }
}
