/** The longest key: the files of the durable store have 16 bits for its length. */
const maxKeyLength = 65_535

/**
 * Throws unless the key is non-empty printable ASCII, for which the orders of code units and of bytes are the same, and of a length that
 * every store can keep.
 */
export function checkKey(key: string): void {
  if (key.length === 0) throw new RangeError('Cannot store under an empty key')
  if (key.length > maxKeyLength) {
    throw new RangeError(`Cannot store under a key of ${key.length} characters: ${maxKeyLength} are the most`)
  }
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e) {
      throw new RangeError(
        `Cannot store under key ${JSON.stringify(key)} as keys are printable ASCII: character ${i} is not`,
      )
    }
  }
}
