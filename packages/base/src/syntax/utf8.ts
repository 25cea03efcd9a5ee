const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff

/** The number of bytes of a text in UTF-8, like Go's `len`. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // Each half of a surrogate pair accounts for two of the four bytes.
    bytes += unit < 0x800 || isSurrogate(unit) ? 1 : 2
  }
  return bytes
}

/** The number of Unicode code points of a text. Half of a surrogate pair counts as one. */
export function codePointLength(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(i + 1)
    if (next < 0xdc00 || next > 0xdfff) continue
    count--
    i++
  }
  return count
}

/** Orders texts by their UTF-8 bytes, which is the order of code points: like Go sorts map keys. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x === y) continue
    // Code points above U+FFFF, which are surrogates in UTF-16, follow all others.
    if (isSurrogate(x) !== isSurrogate(y)) return isSurrogate(x) ? 1 : -1
    return x - y
  }
  return a.length - b.length
}
