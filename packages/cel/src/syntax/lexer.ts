import type { SourceIssue } from './source.ts'

/** Token kinds. Operators and keywords are their own kinds; the others have the names of CEL's grammar. */
export type TokenKind =
  | '=='
  | '!='
  | 'in'
  | '<'
  | '<='
  | '>='
  | '>'
  | '&&'
  | '||'
  | '['
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | '.'
  | ','
  | '-'
  | '!'
  | '?'
  | ':'
  | '+'
  | '*'
  | '/'
  | '%'
  | 'true'
  | 'false'
  | 'null'
  | 'NUM_FLOAT'
  | 'NUM_INT'
  | 'NUM_UINT'
  | 'STRING'
  | 'BYTES'
  | 'IDENTIFIER'
  | 'ESC_IDENTIFIER'
  | 'EOF'

/** A token. `start` and `end` are UTF-16 offsets. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly start: number
  readonly end: number
}

const NUMBER =
  /(?:(?<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(?<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])|(?<int>0x[0-9a-fA-F]+|\d+))/y
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y
const ESC_IDENTIFIER = /`[A-Za-z0-9_./ -]+`/y
const SPACE = /(?:[\t \r\n\f]|\/\/[^\n]*)+/y
const ESCAPE = /\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/y
const TWO_CHARS = new Set(['==', '!=', '<=', '>=', '&&', '||'])
const ONE_CHAR = new Set('<>[]{}().,-!?:+*/%')
const KEYWORDS = new Set(['in', 'true', 'false', 'null'])

/** Characters that start no token. */
export interface UnrecognizedText extends SourceIssue {
  readonly end: number
}

/** Splits a source into tokens; the last one is EOF. Characters that start no token are skipped and reported. */
export function tokenize(source: string, issues: UnrecognizedText[]): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < source.length) {
    const space = match(SPACE, source, at)
    if (space > at) {
      at = space
      continue
    }
    const token = next(source, at)
    if (typeof token === 'number') {
      const text = source.slice(at, token)
      issues.push({
        offset: at,
        end: token,
        message: `Syntax error: token recognition error at: '${escapeText(text)}'`,
      })
      at = token
    } else {
      tokens.push(token)
      at = token.end
    }
  }
  tokens.push({ kind: 'EOF', text: '<EOF>', start: source.length, end: source.length })
  return tokens
}

function escapeText(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
}

/** Returns the token at an offset, or the offset after the characters that form none. */
function next(source: string, at: number): Token | number {
  const make = (kind: TokenKind, end: number): Token => ({ kind, text: source.slice(at, end), start: at, end })
  const c = source.charCodeAt(at)
  const isDigit = (n: number): boolean => n >= 48 && n <= 57
  if (isDigit(c) || (c === 46 && isDigit(source.charCodeAt(at + 1)))) {
    NUMBER.lastIndex = at
    const groups = NUMBER.exec(source)!
    const kind =
      groups.groups!['float'] !== undefined
        ? 'NUM_FLOAT'
        : groups.groups!['uint'] !== undefined
          ? 'NUM_UINT'
          : 'NUM_INT'
    return make(kind, NUMBER.lastIndex)
  }
  const prefixed = stringPrefix(source, at)
  if (prefixed !== undefined) {
    const end = stringEnd(source, at + prefixed.length, prefixed.raw)
    if (end > 0) return make(prefixed.bytes ? 'BYTES' : 'STRING', end)
    // Without a prefix letter the input can only be a string. With one, the letters may be an identifier.
    if (prefixed.length === 0) return -end
  }
  const identifier = match(IDENTIFIER, source, at)
  if (identifier > at) {
    const text = source.slice(at, identifier)
    return make(KEYWORDS.has(text) ? (text as TokenKind) : 'IDENTIFIER', identifier)
  }
  const two = source.slice(at, at + 2)
  if (TWO_CHARS.has(two)) return make(two as TokenKind, at + 2)
  const one = source[at]!
  if (ONE_CHAR.has(one)) return make(one as TokenKind, at + 1)
  if (one === '`') {
    const end = match(ESC_IDENTIFIER, source, at)
    if (end > at) return make('ESC_IDENTIFIER', end)
    let stop = at + 1
    while (stop < source.length && /[A-Za-z0-9_./ -]/.test(source[stop]!)) stop++
    return skipChar(source, stop)
  }
  if (one === '=' || one === '&' || one === '|') return skipChar(source, at + 1)
  return skipChar(source, at)
}

/** Returns the offset after the character at `at`, which may be a surrogate pair, or the end of the source. */
function skipChar(source: string, at: number): number {
  if (at >= source.length) return source.length
  return at + (source.codePointAt(at)! > 0xffff ? 2 : 1)
}

function match(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(source) ? pattern.lastIndex : at
}

function stringPrefix(source: string, at: number): { length: number; raw: boolean; bytes: boolean } | undefined {
  let i = at
  let bytes = false
  let raw = false
  if (source[i] === 'b' || source[i] === 'B') {
    bytes = true
    i++
  }
  if (source[i] === 'r' || source[i] === 'R') {
    raw = true
    i++
  }
  return source[i] === '"' || source[i] === "'" ? { length: i - at, raw, bytes } : undefined
}

/**
 * Returns the end of the string literal whose first quote is at `at`. A negative result is the negated offset after the
 * character that breaks the literal.
 */
function stringEnd(source: string, at: number, raw: boolean): number {
  const quote = source[at]!
  if (source.startsWith(quote.repeat(3), at)) {
    const end = tripleEnd(source, at, quote, raw)
    if (end > 0) return end
    // An unterminated triple quote starts with an empty string.
    return at + 2
  }
  let i = at + 1
  while (i < source.length) {
    const c = source[i]!
    if (c === quote) return i + 1
    if (c === '\n' || c === '\r') return -skipChar(source, i)
    if (c === '\\' && !raw) {
      const end = match(ESCAPE, source, i)
      if (end === i) return -brokenEscape(source, i)
      i = end
    } else {
      i++
    }
  }
  return -source.length
}

function tripleEnd(source: string, at: number, quote: string, raw: boolean): number {
  const close = quote.repeat(3)
  let i = at + 3
  while (i < source.length) {
    if (source.startsWith(close, i)) return i + 3
    if (source[i] === '\\' && !raw) {
      const end = match(ESCAPE, source, i)
      if (end === i) return -1
      i = end
    } else {
      i++
    }
  }
  return -1
}

/** Returns the offset after the first character that no escape sequence allows. */
function brokenEscape(source: string, at: number): number {
  const kind = source[at + 1]
  const digits = kind === 'x' || kind === 'X' ? 2 : kind === 'u' ? 4 : kind === 'U' ? 8 : 0
  let i = at + 2
  if (digits > 0) {
    while (i < at + 2 + digits && /[0-9a-fA-F]/.test(source[i] ?? '')) i++
    return skipChar(source, i)
  }
  if (kind !== undefined && kind >= '0' && kind <= '3') {
    while (i < at + 4 && /[0-7]/.test(source[i] ?? '')) i++
    return skipChar(source, i)
  }
  return skipChar(source, at + 1)
}
