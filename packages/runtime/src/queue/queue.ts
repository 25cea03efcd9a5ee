import type { Duration, WaitOptions } from '@kubewright/base'
import type { Cause, CountedCause } from './cause.ts'

/** What can be said about an add. */
export interface AddOptions {
  /** Why the key is added; kept, merged, until the key is taken. */
  readonly cause?: Cause
  /** Higher ones are taken first by queues that know priorities; others ignore it. @default 0 */
  readonly priority?: number
}

/** A key that a worker took, and must hand back with `done`. */
export interface Taken<K = string> {
  readonly key: K
  readonly priority: number
  /** Why it was in the queue, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** For how many milliseconds it was ready before it was taken. */
  readonly waited: number
}

/** What became of the keys of a queue that was shut down. */
export interface ShutDownReport<K = string> {
  /** Keys that were in the queue, or waiting for their time, and will not be worked on. */
  readonly dropped: readonly K[]
  /** How many keys were finished between the shutdown and its end. */
  readonly finished: number
}

/** What a shutdown does with the keys that are ready to be taken. Keys that wait for a later time are always dropped. */
export interface ShutDownOptions extends WaitOptions {
  readonly pending?: 'drain' | 'drop'
}

/** The state of one key in a {@link QueueSnapshot}. Times are milliseconds. */
export interface QueuedKey<K = string> {
  readonly key: K
  readonly priority: number
  readonly causes: readonly CountedCause[]
  /** For ready keys and keys in process: for how long. For waiting keys: how long they still have to wait. */
  readonly time: number
}

/** What is in a queue at one moment, for inspection. */
export interface QueueSnapshot<K = string> {
  readonly name: string
  /** In the order in which they will be taken, as far as that is known. */
  readonly ready: readonly QueuedKey<K>[]
  /** Those that become ready later, the next one first. */
  readonly waiting: readonly QueuedKey<K>[]
  readonly processing: readonly QueuedKey<K>[]
  readonly shuttingDown: boolean
}

/**
 * A queue of keys between event handlers and workers. All queues guarantee:
 * - A key that is added several times before it is taken is taken once.
 * - No key is worked on by two workers at a time: one that is added while in process is ready again after its `done`.
 * - Nothing that was added is forgotten before a shutdown, and a shutdown reports what it dropped.
 *
 * Keys are compared as Map keys are: use strings.
 */
export interface Queue<K = string> {
  readonly name: string
  /** The number of keys that are ready to be taken. */
  readonly length: number
  readonly shuttingDown: boolean
  /** Makes a key ready now. Ignored after a shutdown began. */
  add(key: K, options?: AddOptions): void
  /** Makes a key ready when the time has passed; of several times for one key the earliest counts. */
  addAfter(key: K, delay: Duration, options?: AddOptions): void
  /** Makes a key ready when the rate limiter allows it. */
  addRateLimited(key: K, options?: AddOptions): void
  /** Tells the rate limiter that the key succeeded or was given up. Does not remove it from the queue. */
  forget(key: K): void
  /** How often the key was added rate limited since it was last forgotten. */
  numRequeues(key: K): number
  /** Takes the next key as soon as there is one; undefined when the queue was shut down and has no more. */
  get(options?: WaitOptions): Promise<Taken<K> | undefined>
  /** Takes the next key if there is one right now. */
  tryGet(): Taken<K> | undefined
  /**
   * Has `listener` called whenever a key becomes ready that nobody waits for with `get`: for workers that use `tryGet`. It is called
   * from within the add, so it should only take note. One listener at a time; none when undefined.
   */
  onReady(listener: (() => void) | undefined): void
  /** Hands a taken key back: must be called exactly once for each. */
  done(key: K): void
  /**
   * Refuses further adds and resolves when no key is in process any more and, with `drain`, none is ready. The signal ends
   * the waiting, not the shutdown.
   */
  shutDown(options?: ShutDownOptions): Promise<ShutDownReport<K>>
  snapshot(): QueueSnapshot<K>
  /** Refreshes the metrics that grow by themselves, such as the age of the work in process: call it before they are read. */
  reportRunning(): void
}
