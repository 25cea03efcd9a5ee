/** A text with Unix line ends. Git and editors may have converted them. */
export function withUnixEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

/** A text with the line ends of the text that it replaces. */
export function withEndsOf(before: string | undefined, text: string): string {
  return before !== undefined && /^[^\n]*\r\n/.test(before) ? withUnixEnds(text).replaceAll('\n', '\r\n') : text
}
