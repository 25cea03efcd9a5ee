import { type Random, randomFrom } from './random.ts'

/**
 * The start value of a seeded stream. Equal seeds give equal streams; the number `1` and the string `'1'` are different
 * seeds.
 */
export type Seed = number | string

/**
 * Creates a reproducible stream: the same seed gives the same values on every machine and Node version. Fast and of
 * good statistical quality (the sfc32 generator), but not suitable for secrets.
 */
export function seededRandom(seed: Seed): Random {
  return stream(typeof seed === 'number' ? `n${Object.is(seed, -0) ? 0 : seed}` : `s${seed}`)
}

// `key` identifies the stream. A fork appends its label, prefixed by the label's length, so that different paths never
// give equal keys.
function stream(key: string): Random {
  return randomFrom(sfc32(key), (label) => stream(`${key}/${label.length}:${label}`))
}

// sfc32 ("small fast counting"): 128 bits of state, with a counter that guarantees a period of at least 2^32.
function sfc32(key: string): () => number {
  let a = hash(key, 0x9e3779b9)
  let b = hash(key, 0x85ebca6b)
  let c = hash(key, 0xc2b2ae35)
  let counter = 1
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  // The first outputs still correlate with the seed; the author of the generator prescribes discarding them.
  for (let i = 0; i < 12; i++) next()
  return next
}

// FNV-1a over UTF-16 code units, followed by murmur3's finalizer, which spreads the last characters over all bits.
function hash(text: string, basis: number): number {
  let h = basis | 0
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) | 0
}
