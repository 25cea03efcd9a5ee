const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const point = 0x2e
// The letter also ends `true` and `false`.
const exponent = 0x65
const upperExponent = 0x45

/** Facts about a JSON text. */
export interface JsonScan {
  /** The number of members of all objects. If the parsed value has fewer members, the text contains duplicate keys. */
  readonly members: number
  /** Whether a number has a fraction or an exponent. Go does not accept such a number for an integer, even if its value is one. */
  readonly floats: boolean
}

/** Scans a valid JSON text. This is much cheaper than a strict parser. */
export function scanJson(text: Uint8Array): JsonScan {
  let members = 0
  let floats = false
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]
    if (byte === colon) members++
    else if (byte === point || (byte === exponent && isDigit(text[at - 1])) || byte === upperExponent) floats = true
    else if (byte === quote) {
      for (at++; text[at] !== quote && at < text.length; at++) if (text[at] === backslash) at++
    }
  }
  return { members, floats }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}
