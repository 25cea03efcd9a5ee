/** Removes surrounding white space by Go's definition (`strings.TrimSpace`), in linear time. */
export function goTrim(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && SPACE.test(text[start]!)) start++
  while (end > start && SPACE.test(text[end - 1]!)) end--
  return text.slice(start, end)
}

const SPACE = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/
