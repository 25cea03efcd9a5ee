/** Parses a query as Go does: pairs that contain a semicolon or an invalid escape are dropped. */
export function parseQuery(text: string): URLSearchParams {
  if (!/%|;/.test(text)) return new URLSearchParams(text)
  const pairs = text.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-fA-F]{2})/.test(pair))
  return new URLSearchParams(pairs.join('&'))
}
