import { ApiSyntaxError } from '../../api-syntax-error.ts'
import { isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isWord } from './characters.ts'

const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
const uri = /[\w;/?:@&=+$,.!~*'()[\]%-]*/y

/** The error of go-yaml for a line; it mentions no line for problems on the first one. */
export function yamlError(problem: string, line = 0): ApiSyntaxError {
  return new ApiSyntaxError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`)
}

/**
 * A position in a YAML text, and the scalars, tags and names that start at it. Every method moves forward only, so
 * reading a text takes time proportional to its length. Semantics and messages are those of go-yaml v2 (scannerc.go).
 */
export class YamlText {
  readonly #text: string
  #lineStart = 0
  /** The number of surrogate pairs before each position; undefined if the text has none. */
  #pairs: Uint32Array | undefined
  at = 0
  /** Counts from zero. */
  line = 0

  constructor(source: string) {
    const text = source.startsWith('\ufeff') ? source.slice(1) : source
    if (forbidden.test(text)) throw yamlError('control characters are not allowed')
    this.#text = `${text}\0`
    if (/[\ud800-\udbff]/.test(text)) this.#pairs = pairsBefore(this.#text)
  }

  get column(): number {
    return this.at - this.#lineStart
  }

  /** The number of characters since an earlier position. */
  since(at: number): number {
    const units = this.at - at
    return this.#pairs === undefined ? units : units - (this.#pairs[this.at]! - this.#pairs[at]!)
  }

  get code(): number {
    return this.#text.charCodeAt(this.at)
  }

  get nextCode(): number {
    // The code after the end is never relevant, but NaN would disturb comparisons.
    return this.#text.charCodeAt(this.at + 1) || 0
  }

  /** Fails at the current line, as go-yaml's scanner does. */
  fail(problem: string): never {
    throw yamlError(problem, this.line === 0 ? 0 : this.line + 1)
  }

  /** go-yaml reports what is missing at the end of the text on the line after the last one. */
  finishLine(): void {
    if (this.column === 0) return
    this.line++
    this.#lineStart = this.at
  }

  /** Whether `---` or `...` is at the start of the current line, alone or followed by a blank. */
  documentMarker(): '---' | '...' | undefined {
    const { code } = this
    if (this.column !== 0 || (code !== 0x2d && code !== 0x2e)) return undefined
    if (!isBlankOrEnd(this.#text.charCodeAt(this.at + 3))) return undefined
    if (this.#text.startsWith('---', this.at)) return '---'
    return this.#text.startsWith('...', this.at) ? '...' : undefined
  }

  /**
   * Moves past blanks, comments and line breaks. Returns whether a line break was among them. Stops at a tab where tabs
   * are not allowed: on the current line, and at the start of further lines.
   */
  skipToContent(tabs: boolean, tabsAtLineStart: boolean): boolean {
    let broken = false
    for (;;) {
      while (this.code === 0x20 || (this.code === 0x09 && (broken ? tabsAtLineStart : tabs))) this.at++
      this.#skipComment()
      if (!isBreak(this.code)) return broken
      this.#readBreak()
      broken = true
    }
  }

  plain(indent: number, inFlow: boolean): { readonly text: string; readonly endsWithBreak: boolean } {
    let out = ''
    let space = ''
    let broken = false
    while (this.documentMarker() === undefined && this.code !== 0x23) {
      const from = this.at
      this.#skipPlainWord(inFlow)
      if (this.at > from) {
        out += space + this.#text.slice(from, this.at)
        broken = false
      }
      if (!isBlank(this.code) && !isBreak(this.code)) break
      const folded = this.#fold(false, indent)
      space = folded.text
      broken = folded.broken
      if (!inFlow && this.column < indent) break
    }
    return { text: out, endsWithBreak: broken }
  }

  #skipPlainWord(inFlow: boolean): void {
    const text = this.#text
    let at = this.at
    for (let code = text.charCodeAt(at); !isBlankOrEnd(code); code = text.charCodeAt(++at)) {
      if (code === 0x3a && isBlankOrEnd(text.charCodeAt(at + 1))) break
      // Ends a plain scalar in a flow collection: , ? [ ] { }
      if (
        inFlow &&
        (code === 0x2c || code === 0x3f || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d)
      )
        break
    }
    this.at = at
  }

  quoted(): string {
    const text = this.#text
    const quote = this.code
    this.at++
    let out = ''
    for (;;) {
      if (this.documentMarker() !== undefined) this.fail('found unexpected document indicator')
      if (this.code === 0) this.fail('found unexpected end of stream')
      let escapedBreak = false
      let from = this.at
      for (let code = this.code; !isBlankOrEnd(code); code = this.code) {
        if (code === quote) {
          if (quote === 0x22 || this.nextCode !== quote) break
          out += text.slice(from, ++this.at)
          from = ++this.at
        } else if (code === 0x5c && quote === 0x22) {
          out += text.slice(from, this.at)
          this.at++
          escapedBreak = isBreak(this.code)
          if (escapedBreak) this.#readBreak()
          else out += this.#escape()
          from = this.at
          if (escapedBreak) break
        } else this.at++
      }
      out += text.slice(from, this.at)
      if (this.code === quote) break
      out += this.#fold(escapedBreak).text
    }
    this.at++
    return out
  }

  /** The character of the escape at the current position, after its backslash. */
  #escape(): string {
    const letter = this.#text[this.at]!
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : 0
    const plain = escapes.get(letter)
    if (digits === 0 && plain === undefined) this.fail('found unknown escape character')
    this.at++
    if (plain !== undefined) return plain
    const hex = this.#text.slice(this.at, this.at + digits)
    if (hex.length < digits || /[^0-9a-fA-F]/.test(hex)) this.fail('did not find expected hexdecimal number')
    const code = Number.parseInt(hex, 16)
    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) this.fail('found invalid Unicode character escape code')
    this.at += digits
    return String.fromCodePoint(code)
  }

  /**
   * Reads the blanks and line breaks between two words of a scalar, and returns the text that stands for them. With
   * `indent`, a tab that is part of the indentation is an error.
   */
  #fold(afterBreak: boolean, indent = 0): { readonly text: string; readonly broken: boolean } {
    let broken = afterBreak
    const from = this.at
    while (!broken && isBlank(this.code)) this.at++
    if (!broken && !isBreak(this.code)) return { text: this.#text.slice(from, this.at), broken: false }
    const first = broken ? '' : this.#readBreak()
    broken = true
    let more = ''
    for (;;) {
      if (isBlank(this.code)) {
        if (this.code === 0x09 && this.column < indent) this.fail('found a tab character that violates indentation')
        this.at++
      } else if (isBreak(this.code)) more += this.#readBreak()
      else return { text: first === '\n' ? more || ' ' : first + more, broken }
    }
  }

  /** A block scalar, at the character after its `|` or `>`. `parent` is the indent of the enclosing block. */
  block(literal: boolean, parent: number): string {
    const { keep, increment } = this.#blockHeader()
    let indent = increment === 0 ? 0 : Math.max(parent, 0) + increment
    let lead = this.#blockBreaks(indent)
    indent ||= Math.max(lead.widest, parent + 1, 1)
    let out = ''
    let end = ''
    let afterBlank = false
    while (this.column === indent && this.code !== 0) {
      const startsBlank = isBlank(this.code)
      const fold = !literal && !afterBlank && !startsBlank && end === '\n'
      out += (fold ? (lead.breaks === '' ? ' ' : '') : end) + lead.breaks
      afterBlank = startsBlank
      const from = this.at
      while (!isBreakOrEnd(this.code)) this.at++
      out += this.#text.slice(from, this.at)
      end = this.code === 0 ? '' : this.#readBreak()
      lead = this.#blockBreaks(indent)
    }
    if (keep === '-') return out
    return keep === '+' ? out + end + lead.breaks : out + end
  }

  #blockHeader(): { readonly keep: string; readonly increment: number } {
    let keep = ''
    let increment = 0
    for (let i = 0; i < 2; i++) {
      const char = this.#text[this.at]!
      if (keep === '' && (char === '+' || char === '-')) keep = char
      else if (increment === 0 && char >= '0' && char <= '9') increment = Number(char)
      else break
      if (char === '0') this.fail('found an indentation indicator equal to 0')
      this.at++
    }
    this.endLine()
    return { keep, increment }
  }

  // Reads empty lines, and the indentation of the first line that is not empty. Indent 0 means unknown.
  #blockBreaks(indent: number): { readonly breaks: string; readonly widest: number } {
    let breaks = ''
    let widest = 0
    for (;;) {
      while (this.code === 0x20 && (indent === 0 || this.column < indent)) this.at++
      if (this.column > widest) widest = this.column
      if (this.code === 0x09 && (indent === 0 || this.column < indent))
        this.fail('found a tab character where an indentation space is expected')
      if (!isBreak(this.code)) return { breaks, widest }
      breaks += this.#readBreak()
    }
  }

  /** Reads the rest of a line that may only contain a comment. */
  endLine(): void {
    this.skipBlanks()
    this.#skipComment()
    if (!isBreakOrEnd(this.code)) this.fail('did not find expected comment or line break')
    if (this.code !== 0) this.#readBreak()
  }

  skipBlanks(): void {
    while (isBlank(this.code)) this.at++
  }

  #skipComment(): void {
    if (this.code === 0x23) while (!isBreakOrEnd(this.code)) this.at++
  }

  /** The name of an anchor or directive at the current position; may be empty. */
  word(): string {
    const from = this.at
    while (isWord(this.code)) this.at++
    return this.#text.slice(from, this.at)
  }

  digits(): string {
    const from = this.at
    while (this.code >= 0x30 && this.code <= 0x39) this.at++
    return this.#text.slice(from, this.at)
  }

  /** A tag such as `!a`, `!!str`, `!h!a` or `!<uri>`, as the handle to look up and the rest. */
  tag(): { readonly handle: string; readonly suffix: string } {
    let handle = ''
    let suffix: string
    if (this.nextCode === 0x3c) {
      this.at += 2
      suffix = this.tagUri('')
      if (this.code !== 0x3e) this.fail("did not find the expected '>'")
      this.at++
    } else {
      handle = this.tagHandle()
      const complete = handle.length > 1 && handle.endsWith('!')
      suffix = this.tagUri(complete ? '' : handle)
      // A lone exclamation mark is a tag of its own, without a handle.
      if (!complete) [handle, suffix] = suffix === '' ? ['', '!'] : ['!', suffix]
    }
    if (!isBlankOrEnd(this.code)) this.fail('did not find expected whitespace or line break')
    return { handle, suffix }
  }

  /** Reads `!`, `!!` or `!name!`; also the start of a tag, `!name`. */
  tagHandle(): string {
    const from = this.at
    this.at++
    while (isWord(this.code)) this.at++
    if (this.code === 0x21) this.at++
    return this.#text.slice(from, this.at)
  }

  /** The rest of a tag, after its start `!name` if that is no handle. */
  tagUri(start: string): string {
    uri.lastIndex = this.at
    const [found] = uri.exec(this.#text)!
    this.at += found.length
    if (start === '' && found === '') this.fail('did not find expected tag URI')
    try {
      return start.slice(1) + (found.includes('%') ? decodeURIComponent(found) : found)
    } catch {
      return this.fail('did not find URI escaped octet')
    }
  }

  /** Moves past a line break and returns its text in a scalar. */
  #readBreak(): string {
    const code = this.code
    this.at += code === 0x0d && this.nextCode === 0x0a ? 2 : 1
    this.line++
    this.#lineStart = this.at
    return code === 0x2028 || code === 0x2029 ? String.fromCharCode(code) : '\n'
  }
}

function pairsBefore(text: string): Uint32Array {
  const pairs = new Uint32Array(text.length)
  for (let at = 1, count = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0xdc00 && code <= 0xdfff) count++
    pairs[at] = count
  }
  return pairs
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['\t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  [' ', ' '],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
])
