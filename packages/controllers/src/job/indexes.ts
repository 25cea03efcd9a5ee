/** A sorted set of completion indexes, in the text format of jobs: `0-2,5` or `1,3`. */
export class Indexes {
  readonly #sorted: readonly number[]
  readonly #set: ReadonlySet<number>

  constructor(indexes: Iterable<number> = []) {
    this.#set = new Set(indexes)
    this.#sorted = [...this.#set].sort((a, b) => a - b)
  }

  /** Parses the text format. Entries that are not an index below the limit are dropped. */
  static parse(text: string | undefined, limit: number): Indexes {
    const indexes: number[] = []
    for (const part of (text ?? '').split(',')) {
      const [, first, last = first] = /^([0-9]+)(?:-([0-9]+))?$/.exec(part) ?? []
      if (first === undefined) continue
      for (let index = Number(first); index <= Number(last) && index < limit; index++) indexes.push(index)
    }
    return new Indexes(indexes)
  }

  get size(): number {
    return this.#sorted.length
  }

  has(index: number): boolean {
    return this.#set.has(index)
  }

  with(more: Iterable<number>): Indexes {
    return new Indexes([...this.#sorted, ...more])
  }

  [Symbol.iterator](): Iterator<number> {
    return this.#sorted[Symbol.iterator]()
  }

  /** Formats the indexes; three and more consecutive ones are written as a range. */
  toString(): string {
    const parts: string[] = []
    for (let start = 0, end = 0; start < this.#sorted.length; start = end + 1) {
      end = start
      while (this.#sorted[end + 1] === (this.#sorted[end] ?? 0) + 1) end++
      const [first, last] = [this.#sorted[start], this.#sorted[end]]
      if (end === start) parts.push(String(first))
      else parts.push(`${first}${end === start + 1 ? ',' : '-'}${last}`)
    }
    return parts.join(',')
  }
}
