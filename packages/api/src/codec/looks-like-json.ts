/** Whether the first non-white-space character of a text is an opening brace (as GuessJSONStream in apimachinery). */
export function looksLikeJson(text: string): boolean {
  return /^\s*\{/.test(text)
}
