import type { WaitOptions } from './clock.ts'
import { Waiters } from './internal/waiters.ts'

/** Limits how many callers do something at the same time. Permits are granted in the order in which they were asked for. */
export class Semaphore {
  readonly #waiters = new Waiters<Disposable>()
  // Never positive while somebody waits: a returned permit goes straight to the first in line.
  #available: number

  constructor(permits: number) {
    if (!Number.isInteger(permits) || permits < 1)
      throw new RangeError(`permits must be a positive integer: ${permits}`)
    this.#available = permits
  }

  /** The permits that could be acquired without waiting. */
  get available(): number {
    return this.#available
  }

  /** The number of callers that wait for a permit. */
  get waiting(): number {
    return this.#waiters.size
  }

  /** Waits for a permit, which is given back by disposing the result; disposing it twice does nothing. */
  async acquire(options: WaitOptions = {}): Promise<Disposable> {
    options.signal?.throwIfAborted()
    return this.tryAcquire() ?? this.#waiters.wait(options.signal, undefined)
  }

  /** A permit if there is one right now. */
  tryAcquire(): Disposable | undefined {
    if (this.#available === 0) return undefined
    this.#available--
    return this.#permit()
  }

  /** Runs `fn` with a permit, which is given back when it has returned, resolved or failed. */
  async run<T>(fn: () => T | PromiseLike<T>, options: WaitOptions = {}): Promise<T> {
    const permit = await this.acquire(options)
    try {
      return await fn()
    } finally {
      permit[Symbol.dispose]()
    }
  }

  #permit(): Disposable {
    let held = true
    return {
      [Symbol.dispose]: () => {
        if (!held) return
        held = false
        if (this.#waiters.size > 0) this.#waiters.release(this.#permit())
        else this.#available++
      },
    }
  }
}

/** Lets one caller at a time through, in the order in which they came. Not re-entrant: asking again while holding it deadlocks. */
export class AsyncMutex extends Semaphore {
  constructor() {
    super(1)
  }
}
