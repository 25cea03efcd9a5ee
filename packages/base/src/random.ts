/** The only source of randomness in Kubewright: a stream of uniformly distributed values. */
export interface Random {
  /** A number in [0, 1) with 53 random bits. */
  next(): number
  /** An unbiased integer in [0, n); `n` must be an integer from 1 to 2^53 - 1. */
  int(n: number): number
  /** One of the items, each equally likely; an empty list is a RangeError. */
  pick<T>(items: readonly T[]): T
  /** A new array with the same items in random order; the given array is not touched. */
  shuffle<T>(items: readonly T[]): T[]
  /** `n` random bytes. */
  bytes(n: number): Uint8Array
  /**
   * An independent stream for one purpose. A seeded stream derives it from its own seed and the label alone, never from how much
   * was drawn before, so that a new consumer does not shift the values that the others see.
   */
  fork(label: string): Random
}

/** Builds a `Random` from a source of unsigned 32-bit integers; `fork` says where independent streams come from. */
export function randomFrom(uint32: () => number, fork: (label: string) => Random): Random {
  // The upper 27 and 26 bits of two draws make the 53 bits that a double holds exactly.
  const uint53 = (): number => (uint32() >>> 5) * 67_108_864 + (uint32() >>> 6)

  const int = (n: number): number => {
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`n must be an integer from 1 to 2^53 - 1: ${n}`)
    const [draw, range] = n <= 2 ** 32 ? [uint32, 2 ** 32] : [uint53, 2 ** 53]
    // Values of the incomplete last block would favour small results: draw again.
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
      // The index is within bounds, so the element is a T even where T includes undefined.
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
