import type { WaitOptions } from './clock.ts'
import { Fifo } from './fifo.ts'
import { Waiters } from './internal/waiters.ts'
import { KubewrightError } from './kubewright-error.ts'

/** Options of an `AsyncQueue`. */
export interface AsyncQueueOptions {
  /** The number of items that may wait to be taken. @default unbounded */
  readonly capacity?: number
}

/**
 * A first-in, first-out queue between producers and consumers. Each item is taken by exactly one consumer, and consumers are served
 * in the order in which they came. After `close` or `fail`, what is in the queue can still be taken; then iteration ends, or fails.
 */
export class AsyncQueue<T> implements AsyncIterable<T>, Disposable {
  readonly #capacity: number
  readonly #items = new Fifo<T>()
  // Consumers wait only while the queue is empty; producers, each with its item, only while it is full.
  readonly #takers = new Waiters<IteratorResult<T, undefined>>()
  readonly #putters = new Waiters<void, T>()
  #closed = false
  #failure: { readonly error: unknown } | undefined

  constructor(options: AsyncQueueOptions = {}) {
    const capacity = options.capacity ?? Number.POSITIVE_INFINITY
    if (!(capacity >= 1)) throw new RangeError(`capacity must be at least 1: ${capacity}`)
    this.#capacity = capacity
  }

  /** The number of items that wait to be taken. */
  get size(): number {
    return this.#items.size
  }

  /** Whether `close` or `fail` has been called: nothing can be added any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** Adds an item now; false, and nothing added, when the queue is full. Throws when it is closed. */
  push(item: T): boolean {
    if (this.#closed) throw closedError('add to')
    if (this.#items.size >= this.#capacity) return false
    if (this.#takers.release({ done: false, value: item }) === undefined) this.#items.push(item)
    return true
  }

  /** Adds an item as soon as there is room. Rejects when the queue is closed before that. */
  async put(item: T, options: WaitOptions = {}): Promise<void> {
    options.signal?.throwIfAborted()
    if (!this.push(item)) await this.#putters.wait(options.signal, item)
  }

  /** Takes the oldest item as soon as there is one. Rejects when the queue is closed and empty, or has failed and is empty. */
  async take(options: WaitOptions = {}): Promise<T> {
    const result = await this.#next(options.signal)
    if (result.done === true) throw closedError('take from')
    return result.value
  }

  /** Takes the oldest item if there is one right now. */
  tryTake(): T | undefined {
    if (this.#items.size === 0) return undefined
    // Not empty, so what is shifted is an item, even where T includes undefined.
    const item = this.#items.shift() as T
    // The room is filled at once by the producer that has waited longest, so that no later one can overtake it.
    const waiting = this.#putters.release()
    if (waiting !== undefined) this.#items.push(waiting.payload)
    return item
  }

  /** Ends the queue: what it holds can still be taken. Closing it again does nothing. */
  close(): void {
    this.#end(undefined)
  }

  /** Ends the queue with an error that consumers get once they have taken what it holds. Does nothing when already closed. */
  fail(error: unknown): void {
    this.#end({ error })
  }

  /** Closes the queue. */
  [Symbol.dispose](): void {
    this.close()
  }

  /** Takes items until the queue is closed and empty. Leaving the loop early leaves the queue open for others. */
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
