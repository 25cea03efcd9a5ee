import { type Random, randomFrom } from './random.ts'

// One call to the operating system serves many draws: getRandomValues costs about a microsecond whatever it fills.
const pool = new Uint32Array(256)
let used = pool.length

function uint32(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  const value = pool[used] ?? 0
  // Handed-out values do not stay in memory: they may have become part of a secret.
  pool[used++] = 0
  return value
}

/** Randomness of the machine, fit for secrets. All its forks are the same source, which is independent of itself anyway. */
export const systemRandom: Random = randomFrom(uint32, () => systemRandom)
