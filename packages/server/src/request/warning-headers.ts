/** The total length, in code points, above which every warning is truncated. */
const truncateAtTotal = 4 * 1024

/** The maximum number of warnings recorded for a request. The headers never have room for more. */
export const maxWarnings: number = truncateAtTotal

/** The length to which warnings are truncated. */
const truncatedItem = 256

/**
 * The values of the Warning headers for distinct texts (RFC 7234: code, agent and quoted text), as in
 * apiserver/pkg/endpoints/filters/warning.go: texts with control characters are dropped; when the total is too long, each text is
 * truncated, and texts beyond the limit are dropped.
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const sendable = texts.filter((text) => text !== '' && !/[\p{Cc}\p{Cs}]/u.test(text))
  let total = 0
  for (const text of sendable) total += lengthOf(text)
  if (total <= truncateAtTotal) return sendable.map(header)
  const headers: string[] = []
  let written = 0
  for (const text of sendable) {
    if (written >= truncateAtTotal) break
    const cut = lengthOf(text) > truncatedItem ? [...text].slice(0, truncatedItem).join('') : text
    written += lengthOf(cut)
    headers.push(header(cut))
  }
  return headers
}

/** The length in code points. Short texts are not counted exactly: their number of UTF-16 units suffices. */
function lengthOf(text: string): number {
  return text.length > truncatedItem ? [...text].length : text.length
}

/** A header value in UTF-8. Node writes headers as latin1, one byte per character. */
function header(text: string): string {
  return Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1')
}
