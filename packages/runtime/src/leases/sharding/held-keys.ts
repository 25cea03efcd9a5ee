/** The keys that are being worked on, each possibly by several controllers. */
export class HeldKeys {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  keys(): Iterable<string> {
    return this.#counts.keys()
  }

  /** Counts one more holder; the function that it returns counts it off again, once. */
  take(key: string, onLast: () => void): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    let held = true
    return () => {
      if (!held) return
      held = false
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left > 0) this.#counts.set(key, left)
      else {
        this.#counts.delete(key)
        onLast()
      }
    }
  }
}
