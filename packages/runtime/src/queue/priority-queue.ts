import { type Duration, Fifo, Heap, toMillis } from '@kubewright/base'
import { BaseQueue, type ReadyKey, type WorkQueueOptions } from './base-queue.ts'
import { isEvent } from './cause.ts'
import type { AddOptions, ShutDownOptions, Taken } from './queue.ts'
import { itemExponentialRateLimiter } from './rate-limiter.ts'

/** Priority of background work: objects of the initial list, and resyncs. */
export const lowPriority = -100

/** Options of a {@link PriorityQueue}. The default rate limiter is per key only. */
export interface PriorityQueueOptions<K = string> extends WorkQueueOptions<K> {
  /**
   * How long higher priorities may overtake a ready key. A key that has waited longer takes every second turn, so that neither old
   * nor urgent keys starve. `Infinity` means strict priorities. @default 10 s
   */
  readonly maxWait?: Duration | undefined
}

interface Ready<K> extends ReadyKey<K> {
  priority: number
  /** Orders equal priorities: a key that becomes ready, or rises to a priority, goes to the end of that line. */
  stamp: number
  /** The time at which the key first became ready; a rise in priority does not renew it. */
  readonly since: number
  /** Set when the entry leaves the queue: #byAge may still contain it. */
  gone: boolean
}

/**
 * A work queue with priorities and the merge rules of controller-runtime's: one entry per key, with the highest priority and the
 * earliest time of all its adds. A plain `add` therefore cancels a pending delay. In addition, keys age: see `maxWait`.
 * By default a shutdown drops the ready keys.
 */
export class PriorityQueue<K = string> extends BaseQueue<K> {
  readonly #maxWait: number
  // Each key is in at most one of #byPriority, #parked and the delayed keys.
  readonly #byPriority = new Heap<Ready<K>, K>({
    key: (entry) => entry.key,
    compare: (a, b) => b.priority - a.priority || a.stamp - b.stamp,
  })
  // All entries of #byPriority by age, mixed with entries that are gone: at most 1024 more than twice as many.
  #byAge = new Fifo<Ready<K>>()
  // Keys that were added while in process: they keep their place until `done`.
  readonly #parked = new Map<K, Ready<K>>()
  #stamp = 0
  // Whether the last key was taken because of its age: then the next one is taken by priority.
  #servedByAge = false

  constructor(options: PriorityQueueOptions<K>) {
    super(options, options.rateLimiter ?? itemExponentialRateLimiter())
    this.#maxWait = toMillis(options.maxWait ?? 10_000)
  }

  get length(): number {
    return this.#byPriority.size
  }

  add(key: K, options: AddOptions = {}): void {
    if (this.shuttingDown) return
    const delayed = this.cancelDelay(key)
    if (options.cause !== undefined) this.causes.record(key, options.cause)
    const priority = options.priority ?? 0
    if (delayed === undefined && this.#find(key) === undefined) this.metrics.added()
    this.makeReady(key, Math.max(priority, delayed?.priority ?? priority))
  }

  addAfter(key: K, delay: Duration, options: AddOptions = {}): void {
    if (this.shuttingDown) return
    const wait = this.countRetry(delay)
    // A ready key stays ready: only its priority is merged.
    if (wait > 0 && this.#find(key) === undefined) this.delay(key, wait, options.priority ?? 0, options.cause)
    else if (wait <= 0 || options.cause === undefined || isEvent(options.cause)) this.add(key, options)
    else this.add(key, { priority: options.priority ?? 0 })
  }

  tryGet(): Taken<K> | undefined {
    const entry = this.#next()
    if (entry === undefined) return undefined
    this.#byPriority.delete(entry.key)
    entry.gone = true
    this.metrics.depth(-1, entry.priority)
    return this.processing.hold(entry.key, entry.priority, this.causes.take(entry.key), entry.since)
  }

  protected makeReady(key: K, priority: number): void {
    const known = this.#find(key)
    if (known === undefined) {
      const entry = { key, priority, stamp: this.#stamp++, since: this.clock.monotonic(), gone: false }
      if (this.processing.has(key)) this.#parked.set(key, entry)
      else this.#insert(entry)
      return
    }
    if (known.priority >= priority) return
    const parked = this.#parked.has(key)
    if (!parked) this.metrics.depth(-1, known.priority)
    known.priority = priority
    known.stamp = this.#stamp++
    if (parked) return
    this.#byPriority.set(known)
    this.metrics.depth(1, priority)
  }

  protected readmit(key: K): void {
    const parked = this.#parked.get(key)
    if (parked === undefined) return
    this.#parked.delete(key)
    this.#insert(parked)
  }

  protected drop(pending: ShutDownOptions['pending'] = 'drop'): K[] {
    const dropped = this.delayed.clear()
    if (pending === 'drain') return dropped
    const ready = this.#byPriority.sorted()
    for (const entry of ready) this.metrics.depth(-1, entry.priority)
    const all = [...ready.map((entry) => entry.key), ...this.#parked.keys(), ...dropped]
    this.#byPriority.clear()
    this.#byAge.drain()
    this.#parked.clear()
    return all
  }

  protected readyKeys(): Iterable<ReadyKey<K>> {
    return [...this.#byPriority.sorted(), ...this.#parked.values()]
  }

  #find(key: K): Ready<K> | undefined {
    return this.#byPriority.get(key) ?? this.#parked.get(key)
  }

  #insert(entry: Ready<K>): void {
    this.#byPriority.set(entry)
    if (this.#maxWait !== Number.POSITIVE_INFINITY) this.#age(entry)
    this.metrics.depth(1, entry.priority)
    this.announce()
  }

  #age(entry: Ready<K>): void {
    this.#byAge.push(entry)
    if (this.#byAge.size <= 2 * this.length + 1024) return
    const line = new Fifo<Ready<K>>()
    for (const each of this.#byAge) if (!each.gone) line.push(each)
    this.#byAge = line
  }

  #next(): Ready<K> | undefined {
    const urgent = this.#byPriority.peek()
    let oldest = this.#byAge.peek()
    while (oldest?.gone) {
      this.#byAge.shift()
      oldest = this.#byAge.peek()
    }
    if (urgent === undefined || oldest === undefined) return urgent
    const passedOver = oldest !== urgent && this.clock.monotonic() - oldest.since >= this.#maxWait
    this.#servedByAge = passedOver && !this.#servedByAge
    return this.#servedByAge ? oldest : urgent
  }
}
