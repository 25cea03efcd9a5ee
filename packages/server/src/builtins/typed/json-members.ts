const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/**
 * Counts the members of all objects in a JSON text. A parsed value that has fewer has lost repeated ones, which is all that is needed
 * to know that a text repeats a field; the text is known to be valid.
 */
export function jsonMembers(text: Uint8Array): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte === colon) count++
    else if (byte === quote) {
      for (at++; text[at] !== quote && at < text.length; at++) if (text[at] === backslash) at++
    }
  }
  return count
}
