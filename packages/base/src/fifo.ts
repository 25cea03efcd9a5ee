/** An empty queue keeps an array of at most this many slots, so that a queue of few items does not allocate for each of them. */
const keptSlots = 64

/**
 * A first-in, first-out queue with amortised constant cost at both ends; `Array.shift` would move every item. Removing
 * an item from the middle costs O(n).
 */
export class Fifo<T> {
  // Slots before #head have been taken, and those from #tail on are free. Both are cleared, so that the queue does not retain the items.
  #items: (T | undefined)[] = []
  #head = 0
  #tail = 0

  get size(): number {
    return this.#tail - this.#head
  }

  push(item: T): void {
    this.#items[this.#tail++] = item
  }

  /** Returns the oldest item without removing it. */
  peek(): T | undefined {
    return this.#head === this.#tail ? undefined : this.#items[this.#head]
  }

  /**
   * Removes and returns the oldest item; undefined if the queue is empty. Check `size` first if items may be undefined.
   */
  shift(): T | undefined {
    if (this.#head === this.#tail) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.#head === this.#tail) {
      if (this.#items.length > keptSlots) this.#items = []
      this.#head = 0
      this.#tail = 0
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#tail) {
      this.#items = this.#items.slice(this.#head, this.#tail)
      this.#tail -= this.#head
      this.#head = 0
    }
    return item
  }

  /** Removes the first occurrence of an item, if there is one. */
  remove(item: T): void {
    const index = this.#items.indexOf(item, this.#head)
    if (index < 0 || index >= this.#tail) return
    this.#items.splice(index, 1)
    this.#tail--
  }

  /** Removes all items and returns them, oldest first. */
  drain(): T[] {
    // Slots between #head and #tail hold items.
    const items = this.#items.slice(this.#head, this.#tail) as T[]
    this.#items = []
    this.#head = 0
    this.#tail = 0
    return items
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let i = this.#head; i < this.#tail; i++) yield this.#items[i] as T
  }
}
