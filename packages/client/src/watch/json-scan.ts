import { endOfJsonString, endOfJsonValue } from '@kubewright/base'

// Locates values in encoded JSON without building them. The structure is checked strictly, so that truncated text is
// always detected. The contents of numbers and literals are not checked; the parser of the value does that.

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The position of the next byte that is not white space; `limit` when there is none. */
export function skipSpace(bytes: Uint8Array, at: number, limit: number): number {
  let i = at
  // JSON white space is below 0x21, and no other JSON syntax is.
  while (i < limit && bytes[i]! <= 0x20) i++
  return i
}

/**
 * Iterates over the members of an object, or the items of a list, that starts at `at`. After each successful `next`,
 * the position fields describe the current member or item.
 */
export class Walk {
  readonly #bytes: Uint8Array
  readonly #limit: number
  readonly #isObject: boolean
  #at: number
  #first = true
  /** The start of the member, at the opening quote of its key; for an item, the start of its value. */
  start = 0
  /** The key, without quotes. */
  keyStart = 0
  keyEnd = 0
  valueStart = 0
  /** Set it to the end of the value after reading it. Otherwise the walk searches for the end itself. */
  valueEnd = -1
  /** The end of the object or list after `next` returned false; -1 when it is truncated or neither object nor list. */
  end = -1

  constructor(bytes: Uint8Array, at: number, limit: number) {
    this.#bytes = bytes
    this.#limit = limit
    this.#isObject = bytes[at] === openBrace
    this.#at = this.#isObject || bytes[at] === openBracket ? at + 1 : -1
  }

  /** Moves to the next member or item. Returns false at the end. */
  next(): boolean {
    const bytes = this.#bytes
    const limit = this.#limit
    if (this.#at < 0) return false
    let at = this.#first ? this.#at : this.skip()
    if (at < 0) return this.#finish(-1)
    at = skipSpace(bytes, at, limit)
    const byte = bytes[at]
    if (byte === (this.#isObject ? closeBrace : closeBracket)) return this.#finish(at + 1)
    if (!this.#first) {
      if (byte !== comma) return this.#finish(-1)
      at = skipSpace(bytes, at + 1, limit)
    }
    this.#first = false
    this.start = at
    if (this.#isObject) {
      at = this.#key(at)
      if (at < 0) return this.#finish(-1)
    }
    this.valueStart = at
    this.valueEnd = -1
    return true
  }

  /** The end of the current value. */
  skip(): number {
    if (this.valueEnd < 0) this.valueEnd = endOfJsonValue(this.#bytes, this.valueStart, this.#limit)
    return this.valueEnd
  }

  /** Whether the current key is this word. */
  isKey(word: Uint8Array): boolean {
    return isWord(this.#bytes, this.keyStart, this.keyEnd, word)
  }

  #key(at: number): number {
    const bytes = this.#bytes
    const limit = this.#limit
    const end = bytes[at] === quote ? endOfJsonString(bytes, at, limit) : -1
    if (end < 0) return -1
    this.keyStart = at + 1
    this.keyEnd = end - 1
    const separator = skipSpace(bytes, end, limit)
    return bytes[separator] === colon ? skipSpace(bytes, separator + 1, limit) : -1
  }

  #finish(end: number): false {
    this.end = end <= this.#limit ? end : -1
    this.#at = -1
    return false
  }
}

/** Whether the bytes of a span are this word. */
export function isWord(bytes: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false
  return true
}

/** The string at a span that includes its quotes; undefined when it is not a string. */
export function stringAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] !== quote || end - start < 2) return undefined
  for (let i = start + 1; i < end - 1; i++) {
    if (bytes[i] === backslash) return JSON.parse(bytes.toString('utf8', start, end)) as string
  }
  return bytes.toString('utf8', start + 1, end - 1)
}
