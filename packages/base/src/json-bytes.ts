// Reads encoded JSON without building values.

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Integers of up to fifteen digits are always exact. */
const maxDigits = 15

/** Facts about a JSON text. */
export interface JsonFacts {
  /** The number of members of all objects, including those with duplicate keys. */
  readonly members: number
  /** The number of levels of objects and lists. */
  readonly depth: number
  /** Whether a number has a fraction or an exponent. Go does not accept such a number for an integer, even if its value is one. */
  readonly hasFloats: boolean
  /**
   * Whether `JSON.parse` and Go decode all scalars alike: no number is large, is negative zero or has an exponent, and no surrogate is
   * unpaired.
   */
  readonly isPlain: boolean
}

/**
 * Scans JSON text, or the first bytes of it, which is much cheaper than a parser. Of other text only `depth` holds: a parser finds the error
 * before it nests deeper.
 */
export function scanJson(bytes: Uint8Array, length: number = bytes.length): JsonFacts {
  let members = 0
  let open = 0
  let depth = 0
  let hasFloats = false
  let isPlain = true
  for (let at = 0; at < length; at++) {
    const code = bytes[at]!
    if (code === quote) {
      for (at++; at < length; at++) {
        const inner = bytes[at]!
        if (inner === quote) break
        if (inner === backslash) {
          at++
          // Only an escape of the form \ud... can be an unpaired surrogate.
          if (bytes[at] === 0x75 && (bytes[at + 1]! | 0x20) === 0x64) isPlain = false
        }
      }
    } else if (code === 0x3a) {
      members++
    } else if (code === openBrace || code === openBracket) {
      if (++open > depth) depth = open
    } else if (code === closeBrace || code === closeBracket) {
      open--
    } else if (code >= 0x30 && code <= 0x39) {
      const start = at
      while (at + 1 < length && bytes[at + 1]! >= 0x30 && bytes[at + 1]! <= 0x39) at++
      const hasExponent = at + 1 < length && (bytes[at + 1]! | 0x20) === 0x65
      if (hasExponent) hasFloats = true
      if (hasExponent || at - start >= maxDigits) isPlain = false
    } else if (code === 0x2e) {
      hasFloats = true
    } else if (code === 0x2d && bytes[at + 1] === 0x30) {
      isPlain = false
    }
  }
  return { members, depth, hasFloats, isPlain }
}

/** The end of the string whose opening quote is at `at`; -1 when it does not end before `limit`. */
export function endOfJsonString(bytes: Uint8Array, at: number, limit: number): number {
  for (let i = at + 1; i < limit; i++) {
    const byte = bytes[i]!
    if (byte === quote) return i + 1
    if (byte === backslash) i++
  }
  return -1
}

/** The end of the value that starts at `at`; -1 when it does not end before `limit`. The contents of scalars are not checked. */
export function endOfJsonValue(bytes: Uint8Array, at: number, limit: number): number {
  const first = at < limit ? bytes[at]! : 0
  if (first === quote) return endOfJsonString(bytes, at, limit)
  if (first !== openBrace && first !== openBracket) return endOfLiteral(bytes, at, limit)
  let depth = 0
  let i = at
  while (i < limit) {
    const byte = bytes[i]!
    if (byte === quote) {
      i = endOfJsonString(bytes, i, limit)
      if (i < 0) return -1
      continue
    }
    i++
    if (byte === openBrace || byte === openBracket) depth++
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return i
  }
  return -1
}

function endOfLiteral(bytes: Uint8Array, at: number, limit: number): number {
  let i = at
  while (i < limit) {
    const byte = bytes[i]!
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte <= 0x20) break
    i++
  }
  return i > at ? i : -1
}
