/** How a `Heap` identifies and orders its items. */
export interface HeapOptions<T, K> {
  /** The identity of an item; must not change while the item is in the heap. */
  readonly key: (item: T) => K
  /**
   * Negative if `a` comes out before `b`. Must be a consistent order. Equal items come out in the order of insertion.
   */
  readonly compare: (a: T, b: T) => number
}

interface Entry<T, K> {
  item: T
  readonly key: K
  // Insertion order, the tie-breaker between items of equal priority. Replacing an item keeps it.
  readonly sequence: number
  // Invariant: the position of this entry in the heap array.
  index: number
}

/**
 * A priority queue whose items can be looked up, replaced and removed by key. Adding, replacing and removing cost O(log
 * n), lookups cost O(1).
 */
export class Heap<T, K = string> {
  readonly #key: (item: T) => K
  readonly #compare: (a: T, b: T) => number
  readonly #entries: Entry<T, K>[] = []
  readonly #byKey = new Map<K, Entry<T, K>>()
  #sequence = 0

  constructor(options: HeapOptions<T, K>) {
    this.#key = options.key
    this.#compare = options.compare
  }

  /** The number of items. */
  get size(): number {
    return this.#entries.length
  }

  /** Adds an item, or replaces the item with the same key and moves it to the position of its new priority. */
  set(item: T): void {
    const key = this.#key(item)
    const existing = this.#byKey.get(key)
    if (existing !== undefined) {
      existing.item = item
      this.#restore(existing)
      return
    }
    const entry: Entry<T, K> = { item, key, sequence: this.#sequence++, index: this.#entries.length }
    this.#byKey.set(key, entry)
    this.#entries.push(entry)
    this.#up(entry)
  }

  /** Adds an item unless its key is present. Returns whether the item was added. */
  addIfAbsent(item: T): boolean {
    if (this.#byKey.has(this.#key(item))) return false
    this.set(item)
    return true
  }

  get(key: K): T | undefined {
    return this.#byKey.get(key)?.item
  }

  has(key: K): boolean {
    return this.#byKey.has(key)
  }

  /** Returns the item that `pop` would return. */
  peek(): T | undefined {
    return this.#entries[0]?.item
  }

  /** Removes and returns the first item; undefined if the heap is empty. */
  pop(): T | undefined {
    const first = this.#entries[0]
    if (first === undefined) return undefined
    this.#remove(first)
    return first.item
  }

  /** Removes the item with this key and returns it; undefined if there is none. */
  delete(key: K): T | undefined {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return undefined
    this.#remove(entry)
    return entry.item
  }

  clear(): void {
    this.#entries.length = 0
    this.#byKey.clear()
  }

  /** Iterates over all items in no particular order. The heap must not change during the iteration. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const entry of this.#entries) yield entry.item
  }

  /** Returns all items in the order in which `pop` would return them, without removing them. Costs O(n log n). */
  sorted(): T[] {
    return [...this.#entries].sort((a, b) => this.#order(a, b)).map((entry) => entry.item)
  }

  #order(a: Entry<T, K>, b: Entry<T, K>): number {
    return this.#compare(a.item, b.item) || a.sequence - b.sequence
  }

  #remove(entry: Entry<T, K>): void {
    this.#byKey.delete(entry.key)
    const last = this.#entries.pop()
    if (last === undefined || last === entry) return
    this.#place(last, entry.index)
    this.#restore(last)
  }

  #restore(entry: Entry<T, K>): void {
    this.#up(entry)
    this.#down(entry)
  }

  #place(entry: Entry<T, K>, index: number): void {
    this.#entries[index] = entry
    entry.index = index
  }

  #up(entry: Entry<T, K>): void {
    let index = entry.index
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = this.#entries[above]
      if (parent === undefined || this.#order(parent, entry) <= 0) break
      this.#place(parent, index)
      index = above
    }
    this.#place(entry, index)
  }

  #down(entry: Entry<T, K>): void {
    let index = entry.index
    for (;;) {
      let below = 2 * index + 1
      let child = this.#entries[below]
      if (child === undefined) break
      const sibling = this.#entries[below + 1]
      if (sibling !== undefined && this.#order(sibling, child) < 0) {
        child = sibling
        below++
      }
      if (this.#order(entry, child) <= 0) break
      this.#place(child, index)
      index = below
    }
    this.#place(entry, index)
  }
}
