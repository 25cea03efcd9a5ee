/** Whether text looks like JSON: its first character that is no white space is an opening brace (GuessJSONStream). */
export function looksLikeJson(text: string): boolean {
  return /^\s*\{/.test(text)
}
