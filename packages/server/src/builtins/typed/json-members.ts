const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/**
 * Counts the members of all objects in a valid JSON text. If the parsed value has fewer members, the text contains duplicate keys. This
 * check is much cheaper than a strict parser.
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
