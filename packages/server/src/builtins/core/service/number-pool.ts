import type { Random } from '@kubewright/base'

/** Allocates numbers of a range, each at most once at a time. */
export class NumberPool {
  readonly #first: number
  readonly #size: number
  /** Size of the band at the start of the range that is allocated last, so that clients can request its numbers explicitly. */
  readonly #reserved: number
  readonly #random: Random
  readonly #taken = new Set<number>()

  constructor(options: { first: number; size: number; reserved: number; random: Random }) {
    this.#first = options.first
    this.#size = options.size
    this.#reserved = options.reserved
    this.#random = options.random
  }

  has(value: number): boolean {
    return value >= this.#first && value < this.#first + this.#size
  }

  isFree(value: number): boolean {
    return !this.#taken.has(value)
  }

  /** Takes a number. Returns false if it is already taken. */
  take(value: number): boolean {
    if (this.#taken.has(value)) return false
    this.#taken.add(value)
    return true
  }

  release(value: number): void {
    this.#taken.delete(value)
  }

  /** Replaces the taken numbers. */
  reset(taken: Iterable<number>): void {
    this.#taken.clear()
    for (const value of taken) this.#taken.add(value)
  }

  /** Finds a free number, in the reserved band last. Returns undefined if there is none. `besides` are numbers to skip. */
  next(besides: ReadonlySet<number> = new Set()): number | undefined {
    return (
      this.#search(this.#first + this.#reserved, this.#size - this.#reserved, besides) ??
      this.#search(this.#first, this.#reserved, besides)
    )
  }

  #search(first: number, size: number, besides: ReadonlySet<number>): number | undefined {
    if (size <= 0) return undefined
    const start = Math.floor(this.#random.next() * size)
    for (let i = 0; i < size; i++) {
      const value = first + ((start + i) % size)
      if (!this.#taken.has(value) && !besides.has(value)) return value
    }
    return undefined
  }
}
