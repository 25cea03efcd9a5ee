import type { WaitOptions } from './clock.ts'
import { Fifo } from './fifo.ts'
import { Waiters } from './internal/waiters.ts'
import { KubewrightError } from './kubewright-error.ts'

/** Options of an `AsyncQueue`. */
export interface AsyncQueueOptions {
  /** The number of items that the queue buffers. @default unbounded */
  readonly capacity?: number | undefined
}

/**
 * A first-in, first-out queue between producers and consumers. Each item goes to exactly one consumer, and consumers
 * are served in the order of their calls. After `close` or `fail`, consumers can still take the buffered items; after
 * the last one, iteration ends (`close`) or throws (`fail`).
 */
export class AsyncQueue<T> implements AsyncIterable<T>, Disposable {
  readonly #capacity: number
  readonly #items = new Fifo<T>()
  // Invariant: takers wait only while the queue is empty, putters (each with its item) only while it is full.
  readonly #takers = new Waiters<IteratorResult<T, undefined>>()
  readonly #putters = new Waiters<void, T>()
  #closed = false
  #failure: { readonly error: unknown } | undefined

  constructor(options: AsyncQueueOptions = {}) {
    const capacity = options.capacity ?? Number.POSITIVE_INFINITY
    if (!(capacity >= 1)) throw new RangeError(`capacity must be at least 1: ${capacity}`)
    this.#capacity = capacity
  }

  /** The number of buffered items. */
  get size(): number {
    return this.#items.size
  }

  /** Whether `close` or `fail` has been called. A closed queue accepts no more items. */
  get closed(): boolean {
    return this.#closed
  }

  /** Adds an item without waiting. Returns false and adds nothing if the queue is full. Throws if it is closed. */
  push(item: T): boolean {
    if (this.#closed) throw closedError('add to')
    if (this.#items.size >= this.#capacity) return false
    if (this.#takers.release({ done: false, value: item }) === undefined) this.#items.push(item)
    return true
  }

  /** Adds an item as soon as there is room. Rejects if the queue is closed first. */
  async put(item: T, options: WaitOptions = {}): Promise<void> {
    options.signal?.throwIfAborted()
    if (!this.push(item)) await this.#putters.wait(options.signal, item)
  }

  /** Takes the oldest item as soon as there is one. Rejects once the queue is closed or has failed, and is empty. */
  async take(options: WaitOptions = {}): Promise<T> {
    const result = await this.#next(options.signal)
    if (result.done === true) throw closedError('take from')
    return result.value
  }

  /** Takes the oldest item without waiting; undefined if the queue is empty. */
  tryTake(): T | undefined {
    if (this.#items.size === 0) return undefined
    // The queue is not empty, so `shift` returns an item even if T includes undefined.
    const item = this.#items.shift() as T
    // The longest-waiting producer fills the free slot in the same step, so that a later `push` cannot overtake it.
    const waiting = this.#putters.release()
    if (waiting !== undefined) this.#items.push(waiting.payload)
    return item
  }

  /** Closes the queue. Consumers can still take the buffered items. Closing it again has no effect. */
  close(): void {
    this.#end(undefined)
  }

  /**
   * Closes the queue with an error. Consumers get the error after they have taken the buffered items. Has no effect if
   * the queue is already closed.
   */
  fail(error: unknown): void {
    this.#end({ error })
  }

  /** Closes the queue. */
  [Symbol.dispose](): void {
    this.close()
  }

  /** Takes items until the queue is closed and empty. Leaving the loop early does not close the queue. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const result = await this.#next(undefined)
      if (result.done === true) return
      yield result.value
    }
  }

  async #next(signal: AbortSignal | undefined): Promise<IteratorResult<T, undefined>> {
    signal?.throwIfAborted()
    if (this.#items.size > 0) return { done: false, value: this.tryTake() as T }
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#closed) return { done: true, value: undefined }
    return this.#takers.wait(signal, undefined)
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = failure
    if (failure !== undefined) this.#takers.rejectAll(() => failure.error)
    while (this.#takers.size > 0) this.#takers.release({ done: true, value: undefined })
    this.#putters.rejectAll(() => closedError('add to'))
  }
}

const closedError = (action: string): KubewrightError =>
  new KubewrightError('KW_QUEUE_CLOSED', `Cannot ${action} queue: it is closed`)
