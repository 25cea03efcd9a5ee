/**
 * A first-in, first-out list with amortised O(1) operations at both ends, where Array.shift would be O(n).
 * Items can be removed from the middle, which costs O(n).
 */
export class Fifo<T> {
  // Items before #head have been taken; the slots are cleared at once so that nothing is kept alive.
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Removes and returns the oldest item. Ask for `size` first: an item may itself be undefined. */
  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head === this.#items.length) {
      this.#items = []
      this.#head = 0
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  /** Removes the first occurrence of an item. */
  remove(item: T): void {
    const index = this.#items.indexOf(item, this.#head)
    if (index >= 0) this.#items.splice(index, 1)
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }
}
