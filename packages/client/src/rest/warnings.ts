/** The texts of a server's `Warning` headers (RFC 7234: `299 - "text"`), however many of them share a line. */
export function parseWarnings(lines: readonly string[]): string[] {
  const texts: string[] = []
  for (const line of lines) {
    for (const match of textOf(line).matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g)) {
      texts.push((match[1] ?? '').replace(/\\(.)/g, '$1'))
    }
  }
  return texts
}

/** Headers come as one character per byte; servers write UTF-8. What is none is taken as it is. */
function textOf(line: string): string {
  const text = Buffer.from(line, 'latin1').toString()
  return text.includes('\ufffd') || Buffer.from(text).toString('latin1') !== line ? line : text
}

/** How many warnings are remembered; a server that makes up more than this is heard again. */
const remembered = 1000

/** Passes each text on once. */
export class OnceOnly {
  readonly #seen = new Set<string>()
  readonly #say: (text: string) => void

  constructor(say: (text: string) => void) {
    this.#say = say
  }

  hear(text: string): void {
    if (this.#seen.has(text)) return
    if (this.#seen.size >= remembered) this.#seen.clear()
    this.#seen.add(text)
    this.#say(text)
  }
}
