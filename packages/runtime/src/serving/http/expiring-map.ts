import type { Clock } from '@kubewright/base'

/** A map whose entries expire. When it exceeds `limit`, the oldest entries are evicted. */
export class ExpiringMap<V> {
  readonly #clock: Clock
  readonly #limit: number
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>()

  constructor(clock: Clock, limit: number) {
    this.#clock = clock
    this.#limit = limit
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.until > this.#clock.monotonic()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  /** Stores a value for `millis` milliseconds. */
  set(key: string, value: V, millis: number): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#clock.monotonic() + millis })
    for (const [oldest] of this.#entries) {
      if (this.#entries.size <= this.#limit) break
      this.#entries.delete(oldest)
    }
  }
}
