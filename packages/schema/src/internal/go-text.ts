/** Removes surrounding white space by Go's definition (`strings.TrimSpace`). */
export function goTrim(text: string): string {
  return text.replace(LEADING_SPACE, '').replace(TRAILING_SPACE, '')
}

const LEADING_SPACE = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/
const TRAILING_SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/
