import { onAbort } from '@kubewright/base'

interface Getter<T> {
  readonly resolve: (value: T | undefined) => void
  readonly stopListening: () => void
}

/** Workers that wait for an item. They are served in order of arrival; each can stop waiting through its signal. */
export class Getters<T> {
  readonly #line = new Set<Getter<T>>()

  get size(): number {
    return this.#line.size
  }

  /** Waits for an item. Rejects with the signal's reason when the signal aborts first. */
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

  /** Resolves the longest waiting worker; undefined means that no item will come. Does nothing when no worker waits. */
  serve(value: T | undefined): void {
    for (const getter of this.#line) {
      this.#line.delete(getter)
      getter.stopListening()
      getter.resolve(value)
      return
    }
  }

  /** Resolves all waiting workers with undefined. */
  dismiss(): void {
    while (this.#line.size > 0) this.serve(undefined)
  }
}
