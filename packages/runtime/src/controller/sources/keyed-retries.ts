import type { Clock, Timer } from '@kubewright/base'

const firstDelay = 1000
const maxDelay = 60_000

/** Retries failed operations by key, with delays from one second, doubling up to a minute. */
export class KeyedRetries implements Disposable {
  readonly #clock: Clock
  readonly #label: string
  readonly #pending = new Map<string, { readonly tries: number; readonly timer: Timer }>()
  #closed = false

  constructor(clock: Clock, label: string) {
    this.#clock = clock
    this.#label = label
  }

  /** Schedules a retry and returns its delay in milliseconds. A later call for the same key replaces it. */
  plan(key: string, attempt: () => void): number {
    const known = this.#pending.get(key)
    known?.timer.cancel()
    const tries = (known?.tries ?? 0) + 1
    const delay = Math.min(maxDelay, firstDelay * 2 ** (tries - 1))
    // The entry stays until `succeeded`, so that the next delay is longer.
    if (!this.#closed) this.#pending.set(key, { tries, timer: this.#clock.setTimer(delay, attempt, this.#label) })
    return delay
  }

  succeeded(key: string): void {
    if (this.#pending.size === 0) return
    this.#pending.get(key)?.timer.cancel()
    this.#pending.delete(key)
  }

  [Symbol.dispose](): void {
    this.#closed = true
    for (const { timer } of this.#pending.values()) timer.cancel()
    this.#pending.clear()
  }
}
