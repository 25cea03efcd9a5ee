import type { Duration, WaitOptions } from '@kubewright/base'
import type { Cause, CountedCause } from './cause.ts'

/** Options of an add. */
export interface AddOptions {
  /** Why the key is added. Merged with other causes and kept until the key is taken. */
  readonly cause?: Cause | undefined
  /** Keys with a higher priority are taken first. Queues without priorities ignore it. @default 0 */
  readonly priority?: number | undefined
}

/** A key that a worker took. The worker must return it with `done`. */
export interface Taken<K = string> {
  readonly key: K
  readonly priority: number
  /** Why the key was in the queue, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** How long the key was ready before it was taken, in milliseconds. */
  readonly waited: number
}

/** What a shutdown did with the keys of a queue. */
export interface ShutDownReport<K = string> {
  /** Keys that were ready or delayed and will not be processed. */
  readonly dropped: readonly K[]
  /** The number of keys that were processed between the shutdown and its end. */
  readonly finished: number
}

/**
 * Options of a shutdown. `pending` decides whether ready keys are processed or dropped. Delayed keys are always
 * dropped.
 */
export interface ShutDownOptions extends WaitOptions {
  readonly pending?: 'drain' | 'drop' | undefined
}

/** The state of one key in a {@link QueueSnapshot}. Times are milliseconds. */
export interface QueuedKey<K = string> {
  readonly key: K
  readonly priority: number
  readonly causes: readonly CountedCause[]
  /** Ready keys and keys in process: how long they have been in that state. Waiting keys: the remaining delay. */
  readonly time: number
}

/** The contents of a queue at one moment. */
export interface QueueSnapshot<K = string> {
  readonly name: string
  /** In the expected order of processing. */
  readonly ready: readonly QueuedKey<K>[]
  /** Keys that become ready later, next due first. */
  readonly waiting: readonly QueuedKey<K>[]
  readonly processing: readonly QueuedKey<K>[]
  readonly shuttingDown: boolean
}

/**
 * A queue of keys between event handlers and workers. All queues guarantee:
 * - A key that is added several times before it is taken is taken once.
 * - A key is held by at most one worker. A key that is added while it is in process becomes ready again after its
 *   `done`.
 * - An added key is not lost before a shutdown, and a shutdown reports the keys it dropped.
 *
 * Keys are compared as Map keys are: use strings.
 */
export interface Queue<K = string> {
  readonly name: string
  /** The number of ready keys. */
  readonly length: number
  readonly shuttingDown: boolean
  /** Makes a key ready now. Ignored after a shutdown has begun. */
  add(key: K, options?: AddOptions): void
  /** Makes a key ready after a delay. If a key has several delays, the earliest one applies. */
  addAfter(key: K, delay: Duration, options?: AddOptions): void
  /** Makes a key ready when the rate limiter allows it. */
  addRateLimited(key: K, options?: AddOptions): void
  /**
   * Resets the rate limiter for a key, because it succeeded or will not be retried. Does not remove the key from the
   * queue.
   */
  forget(key: K): void
  /** How often the key was added by `addRateLimited` since its last `forget`. */
  numRequeues(key: K): number
  /**
   * Takes the next key, and waits until there is one. Resolves with undefined when the queue was shut down and is
   * empty.
   */
  get(options?: WaitOptions): Promise<Taken<K> | undefined>
  /** Takes the next key if one is ready; does not wait. */
  tryGet(): Taken<K> | undefined
  /**
   * Sets the function to call when a key becomes ready and no worker waits in `get`. For workers that use `tryGet`. The
   * queue calls it synchronously from within the add, so it must not take keys itself. A queue has one listener;
   * undefined removes it.
   */
  onReady(listener: (() => void) | undefined): void
  /** Returns a taken key. Must be called exactly once per taken key. */
  done(key: K): void
  /**
   * Rejects further adds, then resolves when no key is in process and, with `drain`, none is ready. The signal ends the
   * wait, not the shutdown.
   */
  shutDown(options?: ShutDownOptions): Promise<ShutDownReport<K>>
  snapshot(): QueueSnapshot<K>
  /**
   * Updates the metrics that change with time alone, such as the age of the work in process. Call it before metrics are
   * read.
   */
  reportRunning(): void
}
