import { type Clock, Heap, type Timer } from '@kubewright/base'

interface Delayed<K> {
  readonly key: K
  readonly due: number
  readonly priority: number
}

/**
 * Keys that become ready later. Each key has one entry, with the earliest time of all its adds. One timer serves all
 * keys.
 */
export class DelayedKeys<K> {
  readonly #clock: Clock
  readonly #onDue: (key: K, priority: number) => void
  readonly #label: string
  readonly #heap = new Heap<Delayed<K>, K>({ key: (entry) => entry.key, compare: (a, b) => a.due - b.due })
  #timer: Timer | undefined
  // The monotonic time at which #timer fires; meaningless without a timer.
  #timerDue = 0

  constructor(clock: Clock, label: string, onDue: (key: K, priority: number) => void) {
    this.#clock = clock
    this.#label = label
    this.#onDue = onDue
  }

  get size(): number {
    return this.#heap.size
  }

  /** Schedules a key. If it is scheduled already, the earlier time and the higher priority apply. */
  plan(key: K, delay: number, priority: number): void {
    const planned = this.#heap.get(key)
    const due = this.#clock.monotonic() + delay
    if (planned === undefined) this.#heap.set({ key, due, priority })
    else if (due < planned.due || priority > planned.priority) {
      this.#heap.set({ key, due: Math.min(due, planned.due), priority: Math.max(priority, planned.priority) })
    }
    this.#arm()
  }

  /** Unschedules a key; returns undefined when it was not scheduled. */
  remove(key: K): { readonly priority: number } | undefined {
    const removed = this.#heap.delete(key)
    this.#arm()
    return removed
  }

  /** Unschedules all keys and returns them, next due first. */
  clear(): K[] {
    const keys = this.#heap.sorted().map((entry) => entry.key)
    this.#heap.clear()
    this.#arm()
    return keys
  }

  /** The scheduled keys with the milliseconds until each is due, next first. */
  list(): { readonly key: K; readonly priority: number; readonly time: number }[] {
    const now = this.#clock.monotonic()
    return this.#heap.sorted().map(({ key, priority, due }) => ({ key, priority, time: due - now }))
  }

  #arm(): void {
    const next = this.#heap.peek()?.due
    if (this.#timer !== undefined && this.#timerDue === next) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (next === undefined) return
    this.#timerDue = next
    this.#timer = this.#clock.setTimer(next - this.#clock.monotonic(), () => this.#fire(), this.#label)
  }

  #fire(): void {
    this.#timer = undefined
    // Clocks are precise to a microsecond. A key that is due within one counts as due, otherwise a timer without delay
    // would be set repeatedly.
    const now = this.#clock.monotonic() + 0.001
    for (let next = this.#heap.peek(); next !== undefined && next.due <= now; next = this.#heap.peek()) {
      this.#heap.pop()
      this.#onDue(next.key, next.priority)
    }
    this.#arm()
  }
}
