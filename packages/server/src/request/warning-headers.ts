/** Warnings that are longer together are cut, in code points. */
const truncateAtTotal = 4 * 1024
/** What is left of each warning when they are cut. */
const truncatedItem = 256

/**
 * The values of the Warning headers for texts that are all different (RFC 7234: code, agent and the quoted text). A text with control
 * characters is dropped; when all together are too long, each is cut, and those that still find no room are dropped
 * (apiserver/pkg/endpoints/filters/warning.go).
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

/** Code points; counting them is only needed where there may be fewer than characters. */
function lengthOf(text: string): number {
  return text.length > truncatedItem ? [...text].length : text.length
}

/** Headers carry bytes, one per character: those of the text in UTF-8. */
function header(text: string): string {
  return Buffer.from(`299 - "${text.replace(/["\\]/g, '\\$&')}"`).toString('latin1')
}
