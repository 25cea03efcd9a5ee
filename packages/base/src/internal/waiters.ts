import { Fifo } from '../fifo.ts'
import { onAbort } from '../on-abort.ts'

interface Waiter<T, P> {
  readonly payload: P
  readonly resolve: (value: T) => void
  readonly reject: (reason: unknown) => void
  readonly cleanup: () => void
}

/** Callers that wait in line for a `T`, each with a payload, and each able to give up through its signal. */
export class Waiters<T, P = undefined> {
  readonly #line = new Fifo<Waiter<T, P>>()

  get size(): number {
    return this.#line.size
  }

  /** Joins the line. An abort leaves it at once and rejects with the signal's reason. */
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

  /** Lets the first in line go and gives its payload; undefined when nobody waits. */
  release(value: T): { readonly payload: P } | undefined {
    const waiter = this.#line.shift()
    waiter?.cleanup()
    waiter?.resolve(value)
    return waiter
  }

  /** Sends everybody away with an error made for each. */
  rejectAll(reason: () => unknown): void {
    for (let waiter = this.#line.shift(); waiter !== undefined; waiter = this.#line.shift()) {
      waiter.cleanup()
      waiter.reject(reason())
    }
  }
}
