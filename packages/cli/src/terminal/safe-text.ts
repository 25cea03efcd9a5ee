/** A sequence that {@link painted} writes, a line end, a tab, or any other control character. */
const controls = /\u001B\[(?:0|1|3[1-6]|90)m|\r?\n|\t|[\p{Cc}\u2028\u2029]/gu

/**
 * Escapes control characters, so that text of others cannot move the cursor, clear the screen, set the title or hide output. Keeps line ends,
 * tabs and the colours of this command.
 */
export function safeText(text: string): string {
  return text.replace(controls, (match) =>
    match.length > 1 || match === '\n' || match === '\t'
      ? match
      : `\\u${match.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
