/**
 * The parameters of a query as Go reads them: of what is not encoded rightly, or holds a semicolon, nothing is left.
 */
export function parseQuery(text: string): URLSearchParams {
  if (!/%|;/.test(text)) return new URLSearchParams(text)
  const pairs = text.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair))
  return new URLSearchParams(pairs.join('&'))
}
