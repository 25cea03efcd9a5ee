import { abortable, type Clock, type Duration, Fifo, Heap, toMillis, type WaitOptions } from '@kubewright/base'
import { CauseBook } from './cause.ts'
import { DelayedKeys } from './delayed-keys.ts'
import { Getters } from './getters.ts'
import { Processing } from './processing.ts'
import type { AddOptions, Queue, QueueSnapshot, ShutDownOptions, ShutDownReport, Taken } from './queue.ts'
import { itemExponentialRateLimiter, type RateLimiter } from './rate-limiter.ts'
import type { WorkQueueOptions } from './work-queue.ts'
import { WorkQueueMetrics } from './work-queue-metrics.ts'

/** The priority of work that nobody waits for: objects of the initial list, and resyncs. */
export const lowPriority = -100

/** What a priority queue is made of. The default rate limiter is per key only. */
export interface PriorityQueueOptions<K = string> extends WorkQueueOptions<K> {
  /**
   * How long a ready key may be passed over by higher priorities. After that it has a turn, every second one at most, so that
   * neither the old nor the urgent keys starve. `Infinity` means strict priorities. @default 10 s
   */
  readonly maxWait?: Duration
}

interface Ready<K> {
  readonly key: K
  priority: number
  /** Decides between equal priorities: becoming ready, or rising to a priority, goes to the end of that line. */
  stamp: number
  /** When the key first became ready; rising does not renew it. */
  readonly since: number
  /** Set when the entry leaves the queue: it may still be in the line by age. */
  gone: boolean
}

/**
 * A work queue with priorities, with the merge rules of controller-runtime's: one entry per key, whose priority is the highest and
 * whose time is the earliest of all its adds; so a plain `add` cancels a pending delay. Unlike that one it ages, see `maxWait`.
 * A shutdown drops what is ready unless it is told to drain it.
 */
export class PriorityQueue<K = string> implements Queue<K> {
  readonly name: string
  readonly #clock: Clock
  readonly #limiter: RateLimiter<K>
  readonly #maxWait: number
  readonly #metrics: WorkQueueMetrics
  readonly #processing: Processing<K>
  readonly #delayed: DelayedKeys<K>
  readonly #causes = new CauseBook<K>()
  readonly #getters = new Getters<Taken<K>>()
  // A key is in #byPriority, or in #parked, or delayed, or nowhere.
  readonly #byPriority = new Heap<Ready<K>, K>({
    key: (entry) => entry.key,
    compare: (a, b) => b.priority - a.priority || a.stamp - b.stamp,
  })
  // Everything in #byPriority, by age, among entries that are gone: at most as many again and a thousand.
  #byAge = new Fifo<Ready<K>>()
  // Ready keys that are in process: they keep their place for when they are done.
  readonly #parked = new Map<K, Ready<K>>()
  #stamp = 0
  // Whether the last key was taken because of its age: then the next one is taken by priority.
  #servedByAge = false
  #shuttingDown = false
  #onReady: (() => void) | undefined

  constructor(options: PriorityQueueOptions<K>) {
    this.name = options.name ?? 'queue'
    this.#clock = options.clock
    this.#limiter = options.rateLimiter ?? itemExponentialRateLimiter()
    this.#maxWait = toMillis(options.maxWait ?? 10_000)
    this.#metrics = new WorkQueueMetrics(options.metrics, this.name)
    this.#processing = new Processing(options.clock, this.#metrics)
    this.#delayed = new DelayedKeys(options.clock, `work queue ${this.name}`, (key, priority) =>
      this.#ready(key, priority),
    )
  }

  get length(): number {
    return this.#byPriority.size
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  add(key: K, options: AddOptions = {}): void {
    if (this.#shuttingDown) return
    if (options.cause !== undefined) this.#causes.record(key, options.cause)
    const delayed = this.#delayed.size > 0 ? this.#delayed.remove(key) : undefined
    const priority = options.priority ?? 0
    if (delayed === undefined && this.#find(key) === undefined) this.#metrics.added()
    this.#ready(key, Math.max(priority, delayed?.priority ?? priority))
  }

  addAfter(key: K, delay: Duration, options: AddOptions = {}): void {
    if (this.#shuttingDown) return
    const wait = toMillis(delay)
    this.#metrics.retried()
    const ready = this.#find(key)
    // A key that is ready cannot become ready later; all that is left to merge is the priority.
    if (wait <= 0 || ready !== undefined) {
      this.add(key, options)
      return
    }
    if (options.cause !== undefined) this.#causes.record(key, options.cause)
    this.#delayed.plan(key, wait, options.priority ?? 0)
  }

  addRateLimited(key: K, options?: AddOptions): void {
    if (!this.#shuttingDown) this.addAfter(key, this.#limiter.when(key), options)
  }

  forget(key: K): void {
    this.#limiter.forget(key)
  }

  numRequeues(key: K): number {
    return this.#limiter.numRequeues(key)
  }

  tryGet(): Taken<K> | undefined {
    const entry = this.#next()
    if (entry === undefined) return undefined
    this.#byPriority.delete(entry.key)
    entry.gone = true
    this.#metrics.depth(-1, entry.priority)
    return this.#processing.hold(entry.key, entry.priority, this.#causes.take(entry.key), entry.since)
  }

  async get(options: WaitOptions = {}): Promise<Taken<K> | undefined> {
    options.signal?.throwIfAborted()
    const taken = this.tryGet()
    if (taken !== undefined || this.#shuttingDown) return taken
    return this.#getters.wait(options.signal)
  }

  onReady(listener: (() => void) | undefined): void {
    this.#onReady = listener
  }

  done(key: K): void {
    if (!this.#processing.release(key)) return
    const parked = this.#parked.get(key)
    if (parked !== undefined) {
      this.#parked.delete(key)
      this.#insert(parked)
    }
    if (this.#shuttingDown && this.#processing.size === 0 && this.length === 0) this.#processing.settle()
  }

  async shutDown(options: ShutDownOptions = {}): Promise<ShutDownReport<K>> {
    this.#shuttingDown = true
    const before = this.#processing.finished
    const dropped = this.#delayed.clear()
    if (options.pending !== 'drain') {
      const ready = this.#byPriority.sorted()
      for (const entry of ready) this.#metrics.depth(-1, entry.priority)
      dropped.unshift(...ready.map((entry) => entry.key), ...this.#parked.keys())
      this.#byPriority.clear()
      this.#byAge.drain()
      this.#parked.clear()
    }
    for (const key of dropped) this.#causes.forget(key)
    this.#getters.dismiss()
    while (this.#processing.size > 0 || this.length > 0) await abortable(this.#processing.settled, options.signal)
    return { dropped, finished: this.#processing.finished - before }
  }

  snapshot(): QueueSnapshot<K> {
    const now = this.#clock.monotonic()
    const causes = (key: K) => this.#causes.of(key)
    return {
      name: this.name,
      ready: [...this.#byPriority.sorted(), ...this.#parked.values()].map(({ key, priority, since }) => {
        return { key, priority, causes: causes(key), time: now - since }
      }),
      waiting: this.#delayed.list().map((entry) => ({ ...entry, causes: causes(entry.key) })),
      processing: this.#processing.snapshot(),
      shuttingDown: this.#shuttingDown,
    }
  }

  reportRunning(): void {
    this.#processing.report()
  }

  #find(key: K): Ready<K> | undefined {
    return this.#byPriority.get(key) ?? this.#parked.get(key)
  }

  /** Makes a key ready, or merges with the entry that is. */
  #ready(key: K, priority: number): void {
    const known = this.#find(key)
    if (known === undefined) {
      const entry = { key, priority, stamp: this.#stamp++, since: this.#clock.monotonic(), gone: false }
      if (this.#processing.has(key)) this.#parked.set(key, entry)
      else this.#insert(entry)
      return
    }
    if (known.priority >= priority) return
    const parked = this.#parked.has(key)
    if (!parked) this.#metrics.depth(-1, known.priority)
    known.priority = priority
    known.stamp = this.#stamp++
    if (parked) return
    this.#byPriority.set(known)
    this.#metrics.depth(1, priority)
  }

  #insert(entry: Ready<K>): void {
    this.#byPriority.set(entry)
    if (this.#maxWait !== Number.POSITIVE_INFINITY) this.#age(entry)
    this.#metrics.depth(1, entry.priority)
    // Workers wait only while nothing is ready, so the first one gets exactly this key.
    if (this.#getters.size > 0) this.#getters.serve(this.tryGet())
    else this.#onReady?.()
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
    const passedOver = oldest !== urgent && this.#clock.monotonic() - oldest.since >= this.#maxWait
    this.#servedByAge = passedOver && !this.#servedByAge
    return this.#servedByAge ? oldest : urgent
  }
}
