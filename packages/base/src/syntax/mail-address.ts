// The grammar of Go's net/mail.ParseAddress (RFC 5322 with its relaxations), which is what the format `email` means in
// Kubernetes: `Name <a@b>`, comments and one-member groups are emails there. Only the verdict is needed.
import { IPAddress } from './ip.ts'

/** Whether Go's `mail.ParseAddress` takes the text. */
export function isMailAddress(text: string): boolean {
  const reader = new MailReader(text)
  return reader.address(true) === 1 && reader.comments() && reader.atEnd
}

/** VCHAR of RFC 6532: printable ASCII without space, and everything beyond ASCII. */
const VISIBLE = '[!-~\\u0080-\\u{10ffff}]'
/** A run of visible characters other than the specials of RFC 5322, 3.2.3; dots included. */
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

  /** How many addresses were read: one, or those of a group; -1 if there is none here. */
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

  /** Skips blanks and comments; false if a comment does not end. */
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

  /** local@domain; goes back to where it began if that is not here. */
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

  /** One word or more; whatever follows the first is left to the caller when it is no word. */
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
