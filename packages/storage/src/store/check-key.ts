/** The durable store's files have 16 bits for the length of a key. */
const maxKeyLength = 65_535

/**
 * Throws a RangeError unless the key is non-empty, printable ASCII and of a length that every store supports. For
 * ASCII, the order of code units and the order of bytes are the same.
 */
export function checkKey(key: string): void {
  if (key.length === 0) throw new RangeError('Cannot store under an empty key')
  if (key.length > maxKeyLength) {
    throw new RangeError(`Cannot store under a key of ${key.length} characters: the maximum is ${maxKeyLength}`)
  }
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e) {
      throw new RangeError(
        `Cannot store under key ${JSON.stringify(key)} as keys must be printable ASCII: character ${i} is not`,
      )
    }
  }
}
