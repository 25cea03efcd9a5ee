import { abortable, type Clock, type Duration, Fifo, toMillis, type WaitOptions } from '@kubewright/base'
import type { MetricSink } from '../telemetry/metrics/metric-sink.ts'
import { CauseBook } from './cause.ts'
import { DelayedKeys } from './delayed-keys.ts'
import { Getters } from './getters.ts'
import { Processing } from './processing.ts'
import type { AddOptions, Queue, QueueSnapshot, ShutDownOptions, ShutDownReport, Taken } from './queue.ts'
import { defaultRateLimiter, type RateLimiter } from './rate-limiter.ts'
import { WorkQueueMetrics } from './work-queue-metrics.ts'

/** What a queue is made of. */
export interface WorkQueueOptions<K = string> {
  readonly clock: Clock
  /** Appears in metrics, snapshots and timers. @default 'queue' */
  readonly name?: string
  readonly metrics?: MetricSink
  /** @default per key exponential, and 10 per second overall; see `defaultRateLimiter` */
  readonly rateLimiter?: RateLimiter<K>
}

/**
 * The classic, rate-limiting work queue of client-go: first in, first out. A plain `add` does not cancel a pending `addAfter`.
 * A shutdown works off what is ready unless it is told to drop it.
 */
export class WorkQueue<K = string> implements Queue<K> {
  readonly name: string
  readonly #clock: Clock
  readonly #limiter: RateLimiter<K>
  readonly #metrics: WorkQueueMetrics
  readonly #processing: Processing<K>
  readonly #delayed: DelayedKeys<K>
  readonly #causes = new CauseBook<K>()
  readonly #getters = new Getters<Taken<K>>()
  // Keys that need work, with the time since when. A dirty key is in the line unless it is in process.
  readonly #dirty = new Map<K, number>()
  // Exactly the dirty keys that are not in process, in the order of arrival.
  readonly #line = new Fifo<K>()
  #shuttingDown = false
  #onReady: (() => void) | undefined

  constructor(options: WorkQueueOptions<K>) {
    this.name = options.name ?? 'queue'
    this.#clock = options.clock
    this.#limiter = options.rateLimiter ?? defaultRateLimiter({ clock: options.clock })
    this.#metrics = new WorkQueueMetrics(options.metrics, this.name)
    this.#processing = new Processing(options.clock, this.#metrics)
    this.#delayed = new DelayedKeys(options.clock, `work queue ${this.name}`, (key) => this.#enqueue(key))
  }

  get length(): number {
    return this.#line.size
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown
  }

  add(key: K, options?: AddOptions): void {
    if (this.#shuttingDown) return
    if (options?.cause !== undefined) this.#causes.record(key, options.cause)
    this.#enqueue(key)
  }

  addAfter(key: K, delay: Duration, options?: AddOptions): void {
    if (this.#shuttingDown) return
    const wait = toMillis(delay)
    this.#metrics.retried()
    if (wait <= 0) {
      this.add(key, options)
      return
    }
    if (options?.cause !== undefined) this.#causes.record(key, options.cause)
    this.#delayed.plan(key, wait, 0)
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
    if (this.#line.size === 0) return undefined
    // The line is not empty, so what is shifted is a key, even where K includes undefined.
    const key = this.#line.shift() as K
    const since = this.#dirty.get(key) ?? this.#clock.monotonic()
    this.#dirty.delete(key)
    this.#metrics.depth(-1)
    return this.#processing.hold(key, 0, this.#causes.take(key), since)
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
    if (this.#dirty.has(key)) this.#queueUp(key)
    if (this.#shuttingDown && this.#processing.size === 0 && this.#line.size === 0) this.#processing.settle()
  }

  async shutDown(options: ShutDownOptions = {}): Promise<ShutDownReport<K>> {
    this.#shuttingDown = true
    const before = this.#processing.finished
    const dropped = this.#delayed.clear().filter((key) => !this.#dirty.has(key))
    if (options.pending === 'drop') {
      // Dirty keys in process are dropped too: their current work was for an older state.
      dropped.unshift(...this.#dirty.keys())
      this.#dirty.clear()
      this.#metrics.depth(-this.#line.drain().length)
    }
    for (const key of dropped) this.#causes.forget(key)
    this.#getters.dismiss()
    while (this.#processing.size > 0 || this.#line.size > 0) await abortable(this.#processing.settled, options.signal)
    return { dropped, finished: this.#processing.finished - before }
  }

  snapshot(): QueueSnapshot<K> {
    const now = this.#clock.monotonic()
    const show = (key: K, time: number) => ({ key, priority: 0, causes: this.#causes.of(key), time })
    return {
      name: this.name,
      ready: [...this.#line].map((key) => show(key, now - (this.#dirty.get(key) ?? now))),
      waiting: this.#delayed.list().map(({ key, time }) => show(key, time)),
      processing: this.#processing.snapshot(),
      shuttingDown: this.#shuttingDown,
    }
  }

  reportRunning(): void {
    this.#processing.report()
  }

  #enqueue(key: K): void {
    if (this.#dirty.has(key)) return
    this.#metrics.added()
    this.#dirty.set(key, this.#clock.monotonic())
    if (!this.#processing.has(key)) this.#queueUp(key)
  }

  #queueUp(key: K): void {
    this.#line.push(key)
    this.#metrics.depth(1)
    // Workers wait only while the line is empty, so the first one gets exactly this key.
    if (this.#getters.size > 0) this.#getters.serve(this.tryGet())
    else this.#onReady?.()
  }
}
