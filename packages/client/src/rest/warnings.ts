/** The texts of a server's `Warning` headers (RFC 7234: `299 - "text"`), however many of them share a line. */
export function parseWarnings(lines: readonly string[]): string[] {
  const texts: string[] = []
  for (const line of lines) {
    for (const match of line.matchAll(/(?:^|,)\s*299\s+\S+\s+"((?:[^"\\]|\\.)*)"/g)) {
      texts.push((match[1] ?? '').replace(/\\(.)/g, '$1'))
    }
  }
  return texts
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
