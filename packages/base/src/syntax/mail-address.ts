// The grammar of Go's net/mail.ParseAddress (RFC 5322 with relaxations), which defines the format `email` in
// Kubernetes. It accepts `Name <a@b>`, comments and groups with one member. This parser only decides whether the text
// is valid.
import { IPAddress } from './ip.ts'

/** Reports whether Go's `mail.ParseAddress` accepts the text. */
export function isMailAddress(text: string): boolean {
  const reader = new MailReader(text)
  return reader.address(true) === 1 && reader.comments() && reader.atEnd
}

/** VCHAR of RFC 6532: printable ASCII without space, and everything beyond ASCII. */
const VISIBLE = '[!-~\\u0080-\\u{10ffff}]'
/** A run of visible characters, including dots, without the specials of RFC 5322, section 3.2.3. */
const DOTTED_ATOM = /(?:(?![()<>[\]:;@\\,"])[!-~\u0080-\u{10ffff}])+/uy
const QUOTED = new RegExp(`"((?:(?!["\\\\])${VISIBLE}|[ \\t]|\\\\(?:${VISIBLE}|[ \\t]))*)"`, 'uy')
const DOMAIN_LITERAL = new RegExp(`\\[((?:(?![[\\]\\\\])${VISIBLE})*)\\]`, 'uy')
const BLANKS = /[ \t]*/y

class MailReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Reads an address or a group. Returns the number of addresses read, -1 if there is none at this position. */
  address(groupAllowed: boolean): number {
    this.#match(BLANKS)
    if (this.atEnd) return -1
    if (this.#addressSpec()) {
      this.#match(BLANKS)
      return this.#take('(') && !this.#restOfComment() ? -1 : 1
    }
    if (this.#peek() !== '<' && !this.#phrase()) return -1
    this.#match(BLANKS)
    if (groupAllowed && this.#take(':')) return this.#group()
    return this.#take('<') && this.#addressSpec() && this.#take('>') ? 1 : -1
  }

  /** Skips blanks and comments. Returns false if a comment is unterminated. */
  comments(): boolean {
    this.#match(BLANKS)
    while (this.#take('(')) {
      if (!this.#restOfComment()) return false
      this.#match(BLANKS)
    }
    return true
  }

  #group(): number {
    this.#match(BLANKS)
    if (this.#take(';')) return this.comments() ? 0 : -1
    for (let count = 1; ; count++) {
      if (this.address(false) < 0 || !this.comments()) return -1
      if (this.#take(';')) return this.comments() ? count : -1
      if (!this.#take(',')) return -1
    }
  }

  /** Reads local@domain. If it does not match, the position stays unchanged. */
  #addressSpec(): boolean {
    const start = this.#at
    this.#match(BLANKS)
    const isLocal = this.#peek() === '"' ? (this.#match(QUOTED) ?? '""') !== '""' : this.#strictAtom()
    if (isLocal && this.#take('@')) {
      this.#match(BLANKS)
      if (this.#peek() === '[' ? this.#addressLiteral() : this.#strictAtom()) return true
    }
    this.#at = start
    return false
  }

  #strictAtom(): boolean {
    const atom = this.#match(DOTTED_ATOM)
    return atom !== undefined && !atom.startsWith('.') && !atom.endsWith('.') && !atom.includes('..')
  }

  #addressLiteral(): boolean {
    const literal = this.#match(DOMAIN_LITERAL)
    if (literal === undefined) return false
    try {
      return IPAddress.parse(literal.slice(1, -1)).zone === ''
    } catch {
      return false
    }
  }

  /** Reads one or more words. Stops before the first text that is not a word. */
  #phrase(): boolean {
    for (let words = 0; ; words++) {
      if (words > 0 && !this.comments()) return false
      this.#match(BLANKS)
      const word = this.#peek() === '"' ? this.#match(QUOTED) : this.#match(DOTTED_ATOM)
      if (word === undefined) return words > 0
    }
  }

  #restOfComment(): boolean {
    for (let depth = 1; !this.atEnd; ) {
      const char = this.#text.charAt(this.#at++)
      if (char === '\\' && !this.atEnd) this.#at++
      else if (char === '(') depth++
      else if (char === ')' && --depth === 0) return true
    }
    return false
  }

  #peek(): string {
    return this.#text.charAt(this.#at)
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false
    this.#at++
    return true
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}
