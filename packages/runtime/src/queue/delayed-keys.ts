import { type Clock, Heap, type Timer } from '@kubewright/base'

interface Delayed<K> {
  readonly key: K
  readonly due: number
  readonly priority: number
}

/** Keys that become ready later: one entry for each, of which the earliest time counts, and one timer for all. */
export class DelayedKeys<K> {
  readonly #clock: Clock
  readonly #onDue: (key: K, priority: number) => void
  readonly #label: string
  readonly #heap = new Heap<Delayed<K>, K>({ key: (entry) => entry.key, compare: (a, b) => a.due - b.due })
  #timer: Timer | undefined
  // The time for which #timer is set; meaningless without one.
  #timerDue = 0

  constructor(clock: Clock, label: string, onDue: (key: K, priority: number) => void) {
    this.#clock = clock
    this.#label = label
    this.#onDue = onDue
  }

  get size(): number {
    return this.#heap.size
  }

  /** Plans a key. If it is planned already, the earlier time and the higher priority count. */
  plan(key: K, delay: number, priority: number): void {
    const planned = this.#heap.get(key)
    const due = this.#clock.monotonic() + delay
    if (planned === undefined) this.#heap.set({ key, due, priority })
    else if (due < planned.due || priority > planned.priority) {
      this.#heap.set({ key, due: Math.min(due, planned.due), priority: Math.max(priority, planned.priority) })
    }
    this.#arm()
  }

  /** Takes a key out of the plan; undefined when it was not in it. */
  remove(key: K): { readonly priority: number } | undefined {
    const removed = this.#heap.delete(key)
    this.#arm()
    return removed
  }

  /** Empties the plan and returns the keys, next due first. */
  clear(): K[] {
    const keys = this.#heap.sorted().map((entry) => entry.key)
    this.#heap.clear()
    this.#arm()
    return keys
  }

  /** The planned keys with the milliseconds until each is due, next first. */
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
    // Clocks know microseconds at most: what is nearer than one is due, or a timer without delay would be set again and again.
    const now = this.#clock.monotonic() + 0.001
    for (let next = this.#heap.peek(); next !== undefined && next.due <= now; next = this.#heap.peek()) {
      this.#heap.pop()
      this.#onDue(next.key, next.priority)
    }
    this.#arm()
  }
}
