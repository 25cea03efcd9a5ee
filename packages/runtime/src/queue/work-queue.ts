import { type Duration, Fifo } from '@kubewright/base'
import { BaseQueue, type ReadyKey, type WorkQueueOptions } from './base-queue.ts'
import type { AddOptions, ShutDownOptions, Taken } from './queue.ts'
import { defaultRateLimiter } from './rate-limiter.ts'

/**
 * The classic rate-limiting work queue of client-go: first in, first out; priorities are ignored. A plain `add` does not cancel a
 * pending `addAfter`. By default a shutdown drains the ready keys.
 */
export class WorkQueue<K = string> extends BaseQueue<K> {
  // Keys that need work, with the monotonic time of the add. A dirty key is in #line unless it is in process.
  readonly #dirty = new Map<K, number>()
  // Exactly the dirty keys that are not in process, in the order of arrival.
  readonly #line = new Fifo<K>()

  constructor(options: WorkQueueOptions<K>) {
    super(options, options.rateLimiter ?? defaultRateLimiter({ clock: options.clock }))
  }

  get length(): number {
    return this.#line.size
  }

  add(key: K, options?: AddOptions): void {
    if (this.shuttingDown) return
    if (options?.cause !== undefined) this.causes.record(key, options.cause)
    this.makeReady(key)
  }

  addAfter(key: K, delay: Duration, options?: AddOptions): void {
    if (this.shuttingDown) return
    const wait = this.countRetry(delay)
    if (wait <= 0) this.add(key, options)
    else this.delay(key, wait, 0, options?.cause)
  }

  tryGet(): Taken<K> | undefined {
    if (this.#line.size === 0) return undefined
    // The line is not empty, so the shifted value is a key, even where K includes undefined.
    const key = this.#line.shift() as K
    const since = this.#dirty.get(key) ?? this.clock.monotonic()
    this.#dirty.delete(key)
    this.metrics.depth(-1)
    return this.processing.hold(key, 0, this.causes.take(key), since)
  }

  protected makeReady(key: K): void {
    if (this.#dirty.has(key)) return
    this.metrics.added()
    this.#dirty.set(key, this.clock.monotonic())
    if (!this.processing.has(key)) this.#queueUp(key)
  }

  protected readmit(key: K): void {
    if (this.#dirty.has(key)) this.#queueUp(key)
  }

  protected drop(pending: ShutDownOptions['pending'] = 'drain'): K[] {
    const dropped = this.delayed.clear().filter((key) => !this.#dirty.has(key))
    if (pending === 'drain') return dropped
    // Dirty keys in process are dropped too: the work in process was started for an older state.
    const dirty = [...this.#dirty.keys()]
    this.#dirty.clear()
    this.metrics.depth(-this.#line.drain().length)
    return [...dirty, ...dropped]
  }

  protected *readyKeys(): Iterable<ReadyKey<K>> {
    for (const key of this.#line) yield { key, priority: 0, since: this.#dirty.get(key) ?? this.clock.monotonic() }
  }

  #queueUp(key: K): void {
    this.#line.push(key)
    this.metrics.depth(1)
    this.announce()
  }
}
