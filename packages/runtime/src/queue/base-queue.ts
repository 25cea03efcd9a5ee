import { abortable, type Clock, type Duration, type MetricSink, toMillis, type WaitOptions } from '@kubewright/base'
import { type Cause, CauseBook, isEvent } from './cause.ts'
import { DelayedKeys } from './delayed-keys.ts'
import { Getters } from './getters.ts'
import { Processing } from './processing.ts'
import type { AddOptions, Queue, QueueSnapshot, ShutDownOptions, ShutDownReport, Taken } from './queue.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { WorkQueueMetrics } from './work-queue-metrics.ts'

/** Options of a queue. */
export interface WorkQueueOptions<K = string> {
  readonly clock: Clock
  /** Appears in metrics, snapshots and timer labels. @default 'queue' */
  readonly name?: string | undefined
  readonly metrics?: MetricSink | undefined
  /** @default per key exponential, and 10 per second overall; see `defaultRateLimiter` */
  readonly rateLimiter?: RateLimiter<K> | undefined
}

/** A key that is ready to be taken. */
export interface ReadyKey<K> {
  readonly key: K
  readonly priority: number
  /** The monotonic time at which the key became ready. */
  readonly since: number
}

/**
 * The common half of all queues: keys in process, delayed keys, causes, waiting workers and the shutdown. A subclass stores the ready
 * keys and decides their order and how adds of the same key are merged.
 */
export abstract class BaseQueue<K> implements Queue<K> {
  readonly name: string
  protected readonly clock: Clock
  protected readonly metrics: WorkQueueMetrics
  protected readonly processing: Processing<K>
  protected readonly delayed: DelayedKeys<K>
  protected readonly causes: CauseBook<K> = new CauseBook()
  // The causes of delayed keys, which become causes of a reconcile when they are due.
  readonly #delayedCauses: CauseBook<K> = new CauseBook()
  readonly #limiter: RateLimiter<K>
  readonly #getters = new Getters<Taken<K>>()
  #shuttingDown = false
  #onReady: (() => void) | undefined

  protected constructor(options: WorkQueueOptions<K>, limiter: RateLimiter<K>) {
    this.name = options.name ?? 'queue'
    this.clock = options.clock
    this.#limiter = limiter
    this.metrics = new WorkQueueMetrics(options.metrics, this.name)
    this.processing = new Processing(options.clock, this.metrics)
    this.delayed = new DelayedKeys(options.clock, `work queue ${this.name}`, (key, priority) => {
      this.#delayedCauses.move(key, this.causes, () => true)
      this.makeReady(key, priority)
    })
  }

  abstract get length(): number
  abstract add(key: K, options?: AddOptions): void
  abstract addAfter(key: K, delay: Duration, options?: AddOptions): void
  abstract tryGet(): Taken<K> | undefined

  /** Makes a key ready, or merges the add into the existing entry of the key. Also called when a delay has passed. */
  protected abstract makeReady(key: K, priority: number): void
  /** Makes a key ready that was added again while it was in process. Called after its release. */
  protected abstract readmit(key: K): void
  /** Drops the delayed keys and, unless `pending` is `drain`, all others; returns the dropped keys, ready ones first. */
  protected abstract drop(pending: ShutDownOptions['pending']): K[]
  /** The ready keys, in the order in which they will be taken. */
  protected abstract readyKeys(): Iterable<ReadyKey<K>>

  get shuttingDown(): boolean {
    return this.#shuttingDown
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
    if (!this.processing.release(key)) return
    this.readmit(key)
    if (this.#shuttingDown && this.processing.size === 0 && this.length === 0) this.processing.settle()
  }

  async shutDown(options: ShutDownOptions = {}): Promise<ShutDownReport<K>> {
    this.#shuttingDown = true
    const before = this.processing.finished
    const dropped = this.drop(options.pending)
    for (const key of dropped) {
      this.causes.forget(key)
      this.#delayedCauses.forget(key)
    }
    this.#getters.dismiss()
    while (this.processing.size > 0 || this.length > 0) await abortable(this.processing.settled, options.signal)
    return { dropped, finished: this.processing.finished - before }
  }

  snapshot(): QueueSnapshot<K> {
    const now = this.clock.monotonic()
    return {
      name: this.name,
      ready: Array.from(this.readyKeys(), ({ key, priority, since }) => {
        return { key, priority, causes: this.causes.of(key), time: now - since }
      }),
      waiting: this.delayed.list().map((entry) => ({ ...entry, causes: this.#delayedCauses.of(entry.key) })),
      processing: this.processing.snapshot(),
      shuttingDown: this.#shuttingDown,
    }
  }

  reportRunning(): void {
    this.processing.report()
  }

  /** Counts a retry and returns its delay in milliseconds. */
  protected countRetry(delay: Duration): number {
    const millis = toMillis(delay)
    this.metrics.retried()
    return millis
  }

  /** Makes a key ready after `millis` milliseconds. */
  protected delay(key: K, millis: number, priority: number, cause: Cause | undefined): void {
    if (cause !== undefined) this.#delayedCauses.record(key, cause)
    this.delayed.plan(key, millis, priority)
  }

  /** Cancels the delay of a key that becomes ready now; returns undefined when it had none. */
  protected cancelDelay(key: K): { readonly priority: number } | undefined {
    const delayed = this.delayed.size > 0 ? this.delayed.remove(key) : undefined
    if (delayed !== undefined) this.#delayedCauses.move(key, this.causes, isEvent)
    return delayed
  }

  /** Must be called after each insert of a ready key: hands it to the worker that has waited longest, or calls the listener. */
  protected announce(): void {
    // Workers wait only while no key is ready, so the first worker gets exactly the key that was inserted.
    if (this.#getters.size > 0) this.#getters.serve(this.tryGet())
    else this.#onReady?.()
  }
}
