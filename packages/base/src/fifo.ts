/**
 * A first-in, first-out line with amortised constant cost at both ends, where `Array.shift` would move every item. Items can be removed
 * from the middle, which costs as much as the line is long.
 */
export class Fifo<T> {
  // Items before #head have been taken; their slots are cleared at once, so that nothing is kept alive.
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** The oldest item, which `shift` would return. */
  peek(): T | undefined {
    return this.#items[this.#head]
  }

  /** Removes and returns the oldest item. Ask for `size` first where an item may itself be undefined. */
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

  /** Removes the first occurrence of an item. */
  remove(item: T): void {
    const index = this.#items.indexOf(item, this.#head)
    if (index >= 0) this.#items.splice(index, 1)
  }

  /** Removes everything and returns it, oldest first. */
  drain(): T[] {
    // Slots from #head on were pushed and never cleared, so they hold items.
    const items = this.#items.slice(this.#head) as T[]
    this.#items = []
    this.#head = 0
    return items
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (let i = this.#head; i < this.#items.length; i++) yield this.#items[i] as T
  }
}
