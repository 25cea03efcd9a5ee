/** A text with the line ends that everything here is written with, whatever an editor or git made of them. */
export function withUnixEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

/** A text with the line ends of the one that it takes the place of. */
export function withEndsOf(before: string | undefined, text: string): string {
  return before !== undefined && /^[^\n]*\r\n/.test(before) ? withUnixEnds(text).replaceAll('\n', '\r\n') : text
}
