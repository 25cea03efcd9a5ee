/** The texts of `Warning` headers (RFC 7234: `299 - "text"`). A header line may contain several. */
export function parseWarnings(lines: readonly string[]): string[] {
  const texts: string[] = []
  for (const line of lines) {
    for (const match of textOf(line).matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g)) {
      texts.push((match[1] ?? '').replace(/\\(.)/g, '$1'))
    }
  }
  return texts
}

/** Decodes a header line, which has one character per byte, as UTF-8. A line that is not UTF-8 is returned unchanged. */
function textOf(line: string): string {
  const text = Buffer.from(line, 'latin1').toString()
  return text.includes('\ufffd') || Buffer.from(text).toString('latin1') !== line ? line : text
}

/** The number of remembered warnings. When a server sends more, the memory is cleared and warnings may repeat. */
const remembered = 1000

/** Forwards each distinct text once. */
export class WarningDeduplicator {
  readonly #seen = new Set<string>()
  readonly #forward: (text: string) => void

  constructor(forward: (text: string) => void) {
    this.#forward = forward
  }

  report(text: string): void {
    if (this.#seen.has(text)) return
    if (this.#seen.size >= remembered) this.#seen.clear()
    this.#seen.add(text)
    this.#forward(text)
  }
}
