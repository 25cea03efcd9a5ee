/** The only source of randomness in Kubewright: a stream of uniformly distributed values. */
export interface Random {
  /** A number in [0, 1) with 53 random bits. */
  next(): number
  /** An unbiased integer in [0, n); `n` must be an integer from 1 to 2^53 - 1. */
  int(n: number): number
  /** Returns one of the items, each with equal probability. An empty list throws a RangeError. */
  pick<T>(items: readonly T[]): T
  /** Returns a new array with the same items in random order. */
  shuffle<T>(items: readonly T[]): T[]
  bytes(n: number): Uint8Array
  /**
   * Returns an independent stream for one purpose. A seeded stream derives the fork from its own seed and the label
   * only, not from the values drawn so far, so that adding a consumer does not change the values of the others.
   */
  fork(label: string): Random
}

/** Creates a `Random` from a source of unsigned 32-bit integers. `fork` supplies the independent streams. */
export function randomFrom(uint32: () => number, fork: (label: string) => Random): Random {
  // The upper 27 and 26 bits of two draws give 53 bits, the precision of a double.
  const uint53 = (): number => (uint32() >>> 5) * 67_108_864 + (uint32() >>> 6)

  const int = (n: number): number => {
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`n must be an integer from 1 to 2^53 - 1: ${n}`)
    const [draw, range] = n <= 2 ** 32 ? [uint32, 2 ** 32] : [uint53, 2 ** 53]
    // Values in the incomplete last block would make small results more likely: discard them.
    const limit = range - (range % n)
    let value = draw()
    while (value >= limit) value = draw()
    return value % n
  }

  return {
    next: () => uint53() / 2 ** 53,
    int,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('cannot pick from an empty list')
      // The index is within bounds, so the element is a T even if T includes undefined.
      return items[int(items.length)] as T
    },
    shuffle<T>(items: readonly T[]): T[] {
      const result = items.slice()
      for (let i = result.length - 1; i > 0; i--) {
        const j = int(i + 1)
        const other = result[j] as T
        result[j] = result[i] as T
        result[i] = other
      }
      return result
    },
    bytes(n: number): Uint8Array {
      const result = new Uint8Array(n)
      for (let i = 0, word = 0; i < n; i++, word >>>= 8) {
        if (i % 4 === 0) word = uint32()
        result[i] = word & 0xff
      }
      return result
    },
    fork,
  }
}
