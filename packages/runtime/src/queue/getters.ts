import { onAbort } from '@kubewright/base'

interface Getter<T> {
  readonly resolve: (value: T | undefined) => void
  readonly stopListening: () => void
}

/** Workers that wait for an item, served in the order in which they came; each can give up through its signal. */
export class Getters<T> {
  readonly #line = new Set<Getter<T>>()

  get size(): number {
    return this.#line.size
  }

  /** Waits to be served; rejects with the signal's reason when it aborts first. */
  wait(signal: AbortSignal | undefined): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const stopListening = onAbort(signal, () => {
        this.#line.delete(getter)
        reject(signal?.reason)
      })
      const getter: Getter<T> = { resolve, stopListening }
      this.#line.add(getter)
    })
  }

  /** Serves the one who has waited longest; undefined tells it that nothing will come. Does nothing when nobody waits. */
  serve(value: T | undefined): void {
    for (const getter of this.#line) {
      this.#line.delete(getter)
      getter.stopListening()
      getter.resolve(value)
      return
    }
  }

  /** Sends everybody away without an item. */
  dismiss(): void {
    while (this.#line.size > 0) this.serve(undefined)
  }
}
