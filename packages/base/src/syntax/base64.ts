/**
 * The length of the longest prefix that is complete base64. Searches for a single character: an expression of repeated groups overflows the
 * stack of the regular expression engine at about 8 MB.
 */
export function base64Prefix(text: string): number {
  const other = text.search(/[^A-Za-z0-9+/]/)
  const end = other < 0 ? text.length : other
  const rest = end % 4
  const isPadded = (rest === 2 && text.startsWith('==', end)) || (rest === 3 && text[end] === '=')
  return isPadded ? end - rest + 4 : end - rest
}
