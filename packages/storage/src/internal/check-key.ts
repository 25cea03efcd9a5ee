/** Throws unless the key is non-empty printable ASCII, for which the orders of code units and of bytes are the same. */
export function checkKey(key: string): void {
  if (key.length === 0) throw new RangeError('Cannot store under an empty key')
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e) {
      throw new RangeError(
        `Cannot store under key ${JSON.stringify(key)} as keys are printable ASCII: character ${i} is not`,
      )
    }
  }
}
