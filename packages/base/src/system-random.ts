import { type Random, randomFrom } from './random.ts'

// One system call serves many draws: getRandomValues costs about a microsecond for any size.
const pool = new Uint32Array(256)
let used = pool.length

function uint32(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const value = pool[used] ?? 0
  // Cleared, because the value may become part of a secret.
  pool[used++] = 0
  return value
}

/**
 * Cryptographically secure randomness of the machine. `fork` returns the same source, whose draws are independent
 * anyway.
 */
export const systemRandom: Random = randomFrom(uint32, () => systemRandom)
