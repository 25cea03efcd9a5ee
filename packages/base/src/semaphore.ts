import type { WaitOptions } from './clock.ts'
import { Waiters } from './internal/waiters.ts'

/** Limits the number of callers that run at the same time. Permits are granted in the order of the requests. */
export class Semaphore {
  readonly #waiters = new Waiters<Disposable>()
  // Invariant: zero while a caller is waiting, because a released permit goes directly to the first waiting caller.
  #available: number

  constructor(permits: number) {
    if (!Number.isInteger(permits) || permits < 1)
      throw new RangeError(`permits must be a positive integer: ${permits}`)
    this.#available = permits
  }

  /** The number of permits that can be acquired without waiting. */
  get available(): number {
    return this.#available
  }

  /** The number of callers that wait for a permit. */
  get waiting(): number {
    return this.#waiters.size
  }

  /** Waits for a permit. Dispose the result to release the permit; disposing it again has no effect. */
  async acquire(options: WaitOptions = {}): Promise<Disposable> {
    options.signal?.throwIfAborted()
    return this.tryAcquire() ?? this.#waiters.wait(options.signal, undefined)
  }

  /** Returns a permit if one is available now, else undefined. */
  tryAcquire(): Disposable | undefined {
    if (this.#available === 0) return undefined
    this.#available--
    return this.#permit()
  }

  /** Runs `fn` with a permit, and releases the permit when `fn` has returned, resolved or failed. */
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

/**
 * Admits one caller at a time, in the order of the requests. Not re-entrant: acquiring it again while holding it
 * deadlocks.
 */
export class AsyncMutex extends Semaphore {
  constructor() {
    super(1)
  }
}
