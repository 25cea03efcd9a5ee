import { type Clock, Deferred } from '@kubewright/base'
import { type CountedCause, countedCauses, type PendingCauses } from './cause.ts'
import type { QueuedKey, Taken } from './queue.ts'
import type { WorkQueueMetrics } from './work-queue-metrics.ts'

/** The keys that workers hold, with the time of and the causes for taking them. */
export class Processing<K> {
  readonly #clock: Clock
  readonly #metrics: WorkQueueMetrics
  readonly #held = new Map<K, TakenKey<K>>()
  #finished = 0
  #idle: Deferred | undefined

  constructor(clock: Clock, metrics: WorkQueueMetrics) {
    this.#clock = clock
    this.#metrics = metrics
  }

  get size(): number {
    return this.#held.size
  }

  /** The number of keys that were released so far. */
  get finished(): number {
    return this.#finished
  }

  has(key: K): boolean {
    return this.#held.has(key)
  }

  /** Records that a worker took a key. `readySince` is the monotonic time at which the key became ready. */
  hold(key: K, priority: number, causes: PendingCauses, readySince: number): Taken<K> {
    const since = this.#clock.monotonic()
    const taken = new TakenKey(key, priority, since, since - readySince, causes)
    this.#held.set(key, taken)
    this.#metrics.taken(taken.waited)
    return taken
  }

  /** Records that a worker returned a key; returns false when no worker held it. */
  release(key: K): boolean {
    const held = this.#held.get(key)
    if (held === undefined) return false
    this.#held.delete(key)
    this.#finished++
    this.#metrics.finished(this.#clock.monotonic() - held.since)
    return true
  }

  /** Resolves when {@link Processing.settle} is next called. */
  get settled(): Promise<void> {
    this.#idle ??= new Deferred()
    return this.#idle.promise
  }

  /** Resolves {@link Processing.settled}: the queue is idle. */
  settle(): void {
    this.#idle?.resolve()
    this.#idle = undefined
  }

  report(): void {
    const now = this.#clock.monotonic()
    this.#metrics.running([...this.#held.values()].map((held) => now - held.since))
  }

  snapshot(): QueuedKey<K>[] {
    const now = this.#clock.monotonic()
    return [...this.#held.values()].map(({ key, priority, causes, since }) => {
      return { key, priority, causes, time: now - since }
    })
  }
}

class TakenKey<K> implements Taken<K> {
  readonly key: K
  readonly priority: number
  /** The monotonic time at which the key was taken. */
  readonly since: number
  readonly waited: number
  readonly #pending: PendingCauses
  #causes: readonly CountedCause[] | undefined

  constructor(key: K, priority: number, since: number, waited: number, pending: PendingCauses) {
    this.key = key
    this.priority = priority
    this.since = since
    this.waited = waited
    this.#pending = pending
  }

  // Computed on first read: most workers never read the causes.
  get causes(): readonly CountedCause[] {
    return (this.#causes ??= countedCauses(this.#pending))
  }
}
