/** The keys in process. Several controllers may hold the same key. */
export class HeldKeys {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  keys(): Iterable<string> {
    return this.#counts.keys()
  }

  /** Adds a holder of a key. The returned function removes it, once, and calls `onLast` after the last one. */
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
