/**
 * A first-in, first-out queue with amortised constant cost at both ends; `Array.shift` would move every item. Removing
 * an item from the middle costs O(n).
 */
export class Fifo<T> {
  // Slots before #head have been taken. They are cleared, so that the queue does not retain the items.
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Returns the oldest item without removing it. */
  peek(): T | undefined {
    return this.#items[this.#head]
  }

  /**
   * Removes and returns the oldest item; undefined if the queue is empty. Check `size` first if items may be undefined.
   */
  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined
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

  /** Removes the first occurrence of an item, if there is one. */
  remove(item: T): void {
    const index = this.#items.indexOf(item, this.#head)
    if (index >= 0) this.#items.splice(index, 1)
  }

  /** Removes all items and returns them, oldest first. */
  drain(): T[] {
    // Slots from #head on have not been cleared, so they hold items.
    const items = this.#items.slice(this.#head) as T[]
    this.#items = []
    this.#head = 0
    return items
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let i = this.#head; i < this.#items.length; i++) yield this.#items[i] as T
  }
}
