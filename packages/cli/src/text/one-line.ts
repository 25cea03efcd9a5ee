/**
 * Escapes control characters and line separators. Text of others must not end a line comment of generated code, control the terminal, or start
 * a line of output that a CI system takes as a command.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
