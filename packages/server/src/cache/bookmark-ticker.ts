import type { Clock, Timer } from '@kubewright/base'

const periodMillis = 60_000

/**
 * One timer for the bookmarks of all watches of clients in this process. It runs only while the store changes: an idle
 * server has nothing to report to them, and a client in the same process needs no sign that the server is alive.
 */
export class BookmarkTicker {
  readonly #clock: Clock
  readonly #reminders = new Set<() => void>()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `remind` at most once a minute, a minute after the store has changed. */
  add(remind: () => void): Disposable {
    this.#reminders.add(remind)
    return {
      [Symbol.dispose]: () => {
        this.#reminders.delete(remind)
        if (this.#reminders.size === 0) this.#stop()
      },
    }
  }

  /** Must be called when the revision of the store has changed. */
  advanced(): void {
    if (this.#timer !== undefined || this.#reminders.size === 0) return
    this.#timer = this.#clock.setTimer(periodMillis, () => this.#tick(), 'bookmarks')
  }

  #tick(): void {
    this.#timer = undefined
    for (const remind of [...this.#reminders]) remind()
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
