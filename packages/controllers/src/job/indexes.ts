/** Consecutive indexes, both ends included. */
interface Range {
  readonly first: number
  readonly last: number
}

/**
 * A set of completion indexes, in the text format of jobs: `0-2,5` or `1,3`. It keeps ranges, so that its size does not depend on the
 * number of indexes: users choose both the number of completions and the texts.
 */
export class Indexes {
  /** Sorted; neither overlapping nor adjacent. */
  readonly #ranges: readonly Range[]
  /** The number of indexes. */
  readonly size: number

  private constructor(ranges: readonly Range[]) {
    this.#ranges = joined(ranges)
    this.size = this.#ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): Indexes {
    return new Indexes(Array.from(indexes, (index) => ({ first: index, last: index })))
  }

  /** Parses the text format. Entries that are not an index below the limit are dropped. */
  static parse(text: string | undefined, limit: number): Indexes {
    const ranges = (text ?? '').split(',').flatMap((part): Range[] => {
      const [, first, last = first] = /^([0-9]+)(?:-([0-9]+))?$/.exec(part) ?? []
      if (first === undefined) return []
      const range = { first: Number(first), last: Math.min(Number(last), limit - 1) }
      return range.first <= range.last ? [range] : []
    })
    return new Indexes(ranges)
  }

  has(index: number): boolean {
    const range = this.#ranges[this.#firstEndingAt(index)]
    return range !== undefined && range.first <= index
  }

  with(...others: readonly Indexes[]): Indexes {
    return new Indexes([this, ...others].flatMap((one) => one.#ranges))
  }

  /** The number of indexes that are in both sets. */
  sizeWithin(other: Indexes): number {
    let count = 0
    for (const { first, last } of other.#ranges) {
      for (let at = this.#firstEndingAt(first); at < this.#ranges.length; at++) {
        const range = this.#ranges[at] as Range
        if (range.first > last) break
        count += Math.min(last, range.last) - Math.max(first, range.first) + 1
      }
    }
    return count
  }

  /** The indexes from 0 up to the limit that are not in the set, in order. Skips ranges without visiting their indexes. */
  *missing(limit: number): Generator<number> {
    let next = 0
    for (const { first, last } of this.#ranges) {
      for (; next < Math.min(first, limit); next++) yield next
      next = last + 1
    }
    for (; next < limit; next++) yield next
  }

  /** Formats the indexes; three and more consecutive ones are written as a range. */
  toString(): string {
    const parts = this.#ranges.map(({ first, last }) =>
      first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`,
    )
    return parts.join(',')
  }

  /** The position of the first range that ends at the index or after it. */
  #firstEndingAt(index: number): number {
    let [low, high] = [0, this.#ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ranges[middle] as Range).last < index) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Sorts ranges and joins those that overlap or are adjacent. */
function joined(ranges: readonly Range[]): Range[] {
  const result: Range[] = []
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = result.at(-1)
    if (before === undefined || range.first > before.last + 1) result.push(range)
    else if (range.last > before.last) result[result.length - 1] = { first: before.first, last: range.last }
  }
  return result
}
