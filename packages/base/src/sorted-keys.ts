/** Keys per block. Large enough to keep the number of blocks low, small enough that an insertion moves few keys. */
const maxBlock = 512

/**
 * A set of strings ordered by UTF-16 code units, stored as a sorted list of sorted blocks. Insertion and removal cost a
 * binary search and a move within one block; iteration is as cheap as over an array.
 */
export class SortedKeys {
  // Invariant: every block is non-empty and sorted, and its last key is smaller than the first key of the next block.
  #blocks: string[][] = []
  #size = 0

  /** The set of keys that are in order and different. Takes linear time. */
  static from(keys: readonly string[]): SortedKeys {
    const set = new SortedKeys()
    // Half full, as after the insertions of a running program, so that later ones do not split every block.
    for (let i = 0; i < keys.length; i += maxBlock / 2) set.#blocks.push(keys.slice(i, i + maxBlock / 2))
    set.#size = keys.length
    return set
  }

  get size(): number {
    return this.#size
  }

  add(key: string): void {
    if (this.#blocks.length === 0) {
      this.#blocks.push([key])
      this.#size = 1
      return
    }
    const b = this.#blockFor(key)
    const block = this.#blocks[b]!
    const i = lowerBound(block, key)
    if (block[i] === key) return
    block.splice(i, 0, key)
    this.#size++
    if (block.length > maxBlock) this.#blocks.splice(b + 1, 0, block.splice(block.length >> 1))
  }

  delete(key: string): void {
    if (this.#blocks.length === 0) return
    const b = this.#blockFor(key)
    const block = this.#blocks[b]!
    const i = lowerBound(block, key)
    if (block[i] !== key) return
    block.splice(i, 1)
    this.#size--
    if (block.length === 0) this.#blocks.splice(b, 1)
  }

  /** Calls `visit` for each key from `start` (inclusive) on, in order, until it returns false. */
  scan(start: string, visit: (key: string) => boolean): void {
    if (this.#blocks.length === 0) return
    let b = this.#blockFor(start)
    let i = lowerBound(this.#blocks[b]!, start)
    for (; b < this.#blocks.length; b++, i = 0) {
      const block = this.#blocks[b]!
      for (; i < block.length; i++) if (!visit(block[i]!)) return
    }
  }

  /**
   * Returns the number of keys smaller than the given one. The cost is proportional to the number of blocks, not keys.
   */
  rank(key: string): number {
    if (this.#blocks.length === 0) return 0
    const b = this.#blockFor(key)
    let count = lowerBound(this.#blocks[b]!, key)
    for (let i = 0; i < b; i++) count += this.#blocks[i]!.length
    return count
  }

  clone(): SortedKeys {
    const copy = new SortedKeys()
    copy.#blocks = this.#blocks.map((block) => block.slice())
    copy.#size = this.#size
    return copy
  }

  /** Returns the index of the last block whose first key is not greater than the key, or 0. */
  #blockFor(key: string): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const mid = (low + high) >> 1
      if (this.#blocks[mid]![0]! <= key) low = mid + 1
      else high = mid
    }
    return Math.max(0, low - 1)
  }
}

/** Returns the index of the first key that is not smaller than the given one. */
function lowerBound(block: readonly string[], key: string): number {
  let low = 0
  let high = block.length
  while (low < high) {
    const mid = (low + high) >> 1
    if (block[mid]! < key) low = mid + 1
    else high = mid
  }
  return low
}
