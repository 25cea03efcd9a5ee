import { Fifo } from '../fifo.ts'
import { onAbort } from '../on-abort.ts'

interface Waiter<T, P> {
  readonly payload: P
  readonly resolve: (value: T) => void
  readonly reject: (reason: unknown) => void
  readonly cleanup: () => void
}

/** A queue of callers that wait for a `T`. Each caller has a payload and may stop waiting through its signal. */
export class Waiters<T, P = undefined> {
  readonly #line = new Fifo<Waiter<T, P>>()

  get size(): number {
    return this.#line.size
  }

  /**
   * Joins the queue. When the signal aborts, the caller leaves the queue and the promise rejects with the signal's
   * reason.
   */
  wait(signal: AbortSignal | undefined, payload: P): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const cleanup = onAbort(signal, () => {
        this.#line.remove(waiter)
        reject(signal?.reason)
      })
      const waiter: Waiter<T, P> = { payload, resolve, reject, cleanup }
      this.#line.push(waiter)
    })
  }

  /** Resolves the promise of the first caller and returns its payload; undefined if no caller is waiting. */
  release(value: T): { readonly payload: P } | undefined {
    const waiter = this.#line.shift()
    waiter?.cleanup()
    waiter?.resolve(value)
    return waiter
  }

  /** Rejects the promises of all callers, each with an error of its own. */
  rejectAll(reason: () => unknown): void {
    for (let waiter = this.#line.shift(); waiter !== undefined; waiter = this.#line.shift()) {
      waiter.cleanup()
      waiter.reject(reason())
    }
  }
}
