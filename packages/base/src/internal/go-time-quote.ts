const utf8 = new TextEncoder()

/**
 * Quotes text like Go's time package does in its errors: control and non-ASCII characters become the hexadecimal bytes
 * of their UTF-8 encoding. Differs from strconv.Quote (`goQuote`).
 */
export function goTimeQuote(text: string): string {
  const quoted = text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]/gu, (character) => {
    let escaped = ''
    for (const byte of utf8.encode(character)) escaped += `\\x${byte.toString(16).padStart(2, '0')}`
    return escaped
  })
  return `"${quoted}"`
}
