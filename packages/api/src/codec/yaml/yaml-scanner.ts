import { isBlank, isBlankOrEnd } from './characters.ts'
import { YamlText } from './yaml-text.ts'

/** The tokens of YAML. Indentation becomes `mapping`, `sequence` and `end`; a key without `?` gets a `key` before it. */
export type TokenType =
  | 'stream end'
  | 'version'
  | 'tag directive'
  | '---'
  | '...'
  | 'mapping'
  | 'sequence'
  | 'end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface Token {
  readonly type: TokenType
  /** The line where the token starts, from zero. */
  readonly line: number
  /** The value of a scalar, the name of an anchor or alias, the handle of a tag, or the version of YAML. */
  readonly text: string
  /** The rest of a tag, or the prefix that a tag directive declares. */
  readonly suffix: string
  /** Whether a scalar is neither quoted nor a block. */
  readonly plain: boolean
  /** Set while the token may turn out to be the start of a key. */
  readonly candidate: KeyCandidate | undefined
}

/** A place where a key without `?` may start. It is one if a colon follows on the same line within 1024 characters. */
interface KeyCandidate {
  open: boolean
  /** Whether the line makes no sense unless it is a key. */
  readonly required: boolean
  /** The tokens to deliver before the one at this place, last first, once it turned out to be a key. */
  readonly before: Token[]
  readonly at: number
  readonly line: number
  readonly column: number
}

const maxKeyLength = 1024
const noToken = 'found character that cannot start any token'

/**
 * Splits a YAML text into tokens, as go-yaml v2 does (scannerc.go). It looks ahead only as far as a key can reach, and
 * each character and each token is visited a bounded number of times.
 */
export class YamlScanner {
  readonly #text: YamlText
  /** Tokens that are not taken yet, from `#head` on. */
  #queue: Token[] = []
  #head = 0
  /** The number of tokens taken so far. */
  #taken = 0
  #indent = -1
  readonly #indents: number[] = []
  /** The last candidate of each open flow collection, and of the block around them. */
  readonly #candidates: (KeyCandidate | undefined)[] = [undefined]
  #keyAllowed = true
  #moved = 0

  constructor(source: string) {
    this.#text = new YamlText(source)
  }

  /** The work done so far: characters read, tokens delivered or waiting, and tokens moved within the queue. */
  get steps(): number {
    return this.#text.at + this.#taken + this.#queue.length - this.#head + this.#moved
  }

  peek(): Token {
    for (;;) {
      const token = this.#queue[this.#head]
      if (token !== undefined && !this.#isOpen(token.candidate)) return token.candidate?.before.at(-1) ?? token
      this.#fetch()
    }
  }

  take(): Token {
    const token = this.peek()
    this.#taken++
    if (token !== this.#queue[this.#head]) return this.#queue[this.#head]!.candidate!.before.pop()!
    if (++this.#head === this.#queue.length) {
      this.#queue.length = 0
      this.#head = 0
    } else if (this.#head >= maxKeyLength) {
      this.#moved += this.#queue.length - this.#head
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return token
  }

  get #inFlow(): boolean {
    return this.#candidates.length > 1
  }

  #fetch(): void {
    const text = this.#text
    const inFlow = this.#inFlow
    const broken = text.skipToContent(inFlow || !this.#keyAllowed, inFlow)
    if (broken && !inFlow) this.#keyAllowed = true
    this.#closeBlocks(text.column)
    const { code } = text
    const marker = text.documentMarker()
    if (code === 0) this.#endStream()
    else if (code === 0x25 && text.column === 0) this.#directive()
    else if (marker !== undefined) this.#documentMarker(marker)
    else this.#fetchContent(code, inFlow)
  }

  #fetchContent(code: number, inFlow: boolean): void {
    const text = this.#text
    const blankNext = isBlankOrEnd(text.nextCode)
    switch (code) {
      case 0x5b: // [
        this.#openFlow('[')
        break
      case 0x7b: // {
        this.#openFlow('{')
        break
      case 0x5d: // ]
        this.#closeFlow(']')
        break
      case 0x7d: // }
        this.#closeFlow('}')
        break
      case 0x2c: // ,
        this.#dropCandidate()
        this.#keyAllowed = true
        this.#indicator(',')
        break
      case 0x2d: // -
        if (blankNext) this.#entry(inFlow)
        else this.#plain()
        break
      case 0x3f: // ?
        if (inFlow || blankNext) this.#explicitKey(inFlow)
        else this.#plain()
        break
      case 0x3a: // :
        if (inFlow || blankNext) this.#value(inFlow)
        else this.#plain()
        break
      case 0x2a: // *
        this.#anchor('alias')
        break
      case 0x26: // &
        this.#anchor('anchor')
        break
      case 0x21: // !
        this.#tag()
        break
      case 0x7c: // |
      case 0x3e: // >
        if (inFlow) text.fail(noToken)
        this.#block(code === 0x7c)
        break
      case 0x27: // '
      case 0x22: // "
        this.#quoted()
        break
      case 0x09: // tab
      case 0x23: // #
      case 0x25: // %
      case 0x40: // @
      case 0x60: // `
        text.fail(noToken)
        break
      default:
        this.#plain()
    }
  }

  #push(type: TokenType, line: number, text = '', suffix = '', candidate?: KeyCandidate): void {
    this.#queue.push({ type, line, text, suffix, plain: false, candidate })
  }

  #indicator(type: TokenType): void {
    this.#push(type, this.#text.line)
    this.#text.at++
  }

  #endStream(): void {
    this.#text.finishLine()
    this.#closeBlocks(-1)
    this.#dropCandidate()
    this.#keyAllowed = false
    this.#push('stream end', this.#text.line)
  }

  #documentMarker(marker: '---' | '...'): void {
    this.#closeBlocks(-1)
    this.#dropCandidate()
    this.#keyAllowed = false
    this.#push(marker, this.#text.line)
    this.#text.at += 3
  }

  #directive(): void {
    const text = this.#text
    this.#closeBlocks(-1)
    this.#dropCandidate()
    this.#keyAllowed = false
    const { line } = text
    text.at++
    const name = text.word()
    if (name === '') text.fail('could not find expected directive name')
    if (!isBlankOrEnd(text.code)) text.fail('found unexpected non-alphabetical character')
    if (name !== 'YAML' && name !== 'TAG') text.fail('found unknown directive name')
    text.skipBlanks()
    if (name === 'YAML') this.#push('version', line, this.#version())
    else this.#tagDirective(line)
    text.endLine()
  }

  #version(): string {
    const text = this.#text
    const number = (): string => {
      const digits = text.digits()
      if (digits.length > 2) text.fail('found extremely long version number')
      if (digits === '') text.fail('did not find expected version number')
      return digits
    }
    const major = number()
    if (text.code !== 0x2e) text.fail("did not find expected digit or '.' character")
    text.at++
    return `${Number(major)}.${Number(number())}`
  }

  #tagDirective(line: number): void {
    const text = this.#text
    if (text.code !== 0x21) text.fail("did not find expected '!'")
    const handle = text.tagHandle()
    if (!handle.endsWith('!')) text.fail("did not find expected '!'")
    if (!isBlank(text.code)) text.fail('did not find expected whitespace')
    text.skipBlanks()
    const prefix = text.tagUri('')
    if (!isBlankOrEnd(text.code)) text.fail('did not find expected whitespace or line break')
    this.#push('tag directive', line, handle, prefix)
  }

  #openFlow(type: '[' | '{'): void {
    const candidate = this.#newCandidate()
    this.#candidates.push(undefined)
    this.#keyAllowed = true
    this.#push(type, this.#text.line, '', '', candidate)
    this.#text.at++
  }

  #closeFlow(type: ']' | '}'): void {
    this.#dropCandidate()
    if (this.#inFlow) this.#candidates.pop()
    this.#keyAllowed = false
    this.#indicator(type)
  }

  #entry(inFlow: boolean): void {
    if (!inFlow) {
      if (!this.#keyAllowed) this.#text.fail('block sequence entries are not allowed in this context')
      if (this.#openBlock(this.#text.column)) this.#push('sequence', this.#text.line)
    }
    this.#dropCandidate()
    this.#keyAllowed = true
    this.#indicator('-')
  }

  #explicitKey(inFlow: boolean): void {
    if (!inFlow) {
      if (!this.#keyAllowed) this.#text.fail('mapping keys are not allowed in this context')
      if (this.#openBlock(this.#text.column)) this.#push('mapping', this.#text.line)
    }
    this.#dropCandidate()
    this.#keyAllowed = !inFlow
    this.#indicator('key')
  }

  #value(inFlow: boolean): void {
    const candidate = this.#candidates.at(-1)
    if (candidate !== undefined && this.#isOpen(candidate)) {
      candidate.open = false
      this.#addKey(candidate, !inFlow && this.#openBlock(candidate.column))
      this.#keyAllowed = false
    } else {
      if (!inFlow) {
        if (!this.#keyAllowed) this.#text.fail('mapping values are not allowed in this context')
        if (this.#openBlock(this.#text.column)) this.#push('mapping', this.#text.line)
      }
      this.#keyAllowed = !inFlow
    }
    this.#indicator('value')
  }

  #addKey({ before, line }: KeyCandidate, opensMapping: boolean): void {
    before.push({ type: 'key', line, text: '', suffix: '', plain: false, candidate: undefined })
    if (opensMapping) before.push({ type: 'mapping', line, text: '', suffix: '', plain: false, candidate: undefined })
  }

  #anchor(type: 'alias' | 'anchor'): void {
    const text = this.#text
    const candidate = this.#newCandidate()
    this.#keyAllowed = false
    const { line } = text
    text.at++
    const name = text.word()
    // Besides a blank, these may follow: ? : , ] } % @ `
    if (name === '' || !(isBlankOrEnd(text.code) || '?:,]}%@`'.includes(String.fromCharCode(text.code)))) {
      text.fail('did not find expected alphabetic or numeric character')
    }
    this.#push(type, line, name, '', candidate)
  }

  #tag(): void {
    const candidate = this.#newCandidate()
    this.#keyAllowed = false
    const { line } = this.#text
    const { handle, suffix } = this.#text.tag()
    this.#push('tag', line, handle, suffix, candidate)
  }

  #block(literal: boolean): void {
    this.#dropCandidate()
    this.#keyAllowed = true
    const { line } = this.#text
    this.#text.at++
    this.#push('scalar', line, this.#text.block(literal, this.#indent))
  }

  #quoted(): void {
    const candidate = this.#newCandidate()
    this.#keyAllowed = false
    const { line } = this.#text
    this.#push('scalar', line, this.#text.quoted(), '', candidate)
  }

  #plain(): void {
    const candidate = this.#newCandidate()
    this.#keyAllowed = false
    const { line } = this.#text
    const { text, endsWithBreak } = this.#text.plain(this.#indent + 1, this.#inFlow)
    if (endsWithBreak) this.#keyAllowed = true
    this.#queue.push({ type: 'scalar', line, text, suffix: '', plain: true, candidate })
  }

  /** Opens a block at a column that is further in than the current block. */
  #openBlock(column: number): boolean {
    if (this.#indent >= column) return false
    this.#indents.push(this.#indent)
    this.#indent = column
    return true
  }

  #closeBlocks(column: number): void {
    if (this.#inFlow) return
    while (this.#indent > column) {
      this.#push('end', this.#text.line)
      this.#indent = this.#indents.pop()!
    }
  }

  #newCandidate(): KeyCandidate | undefined {
    if (!this.#keyAllowed) return undefined
    this.#dropCandidate()
    const { at, line, column } = this.#text
    const candidate = {
      open: true,
      required: !this.#inFlow && this.#indent === column,
      before: [],
      at,
      line,
      column,
    }
    this.#candidates[this.#candidates.length - 1] = candidate
    return candidate
  }

  #dropCandidate(): void {
    const candidate = this.#candidates.at(-1)
    if (candidate?.open) this.#refute(candidate)
  }

  #isOpen(candidate: KeyCandidate | undefined): boolean {
    if (candidate?.open !== true) return false
    if (candidate.line < this.#text.line || this.#text.since(candidate.at) > maxKeyLength) this.#refute(candidate)
    return candidate.open
  }

  #refute(candidate: KeyCandidate): void {
    if (candidate.required) this.#text.fail("could not find expected ':'")
    candidate.open = false
  }
}
