import { compareUtf8 } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import {
  binaryOperators,
  labelKeyError,
  newRequirement,
  type Requirement,
  type SelectionOperator,
} from './requirement.ts'
import { Selector } from './selector.ts'

/**
 * Parses `labelSelector=` and `kubectl -l` syntax: `app=web,tier in (a,b),!canary,size>3`. Error messages are those of
 * apimachinery/pkg/labels.
 */
export function parseSelector(text: string): Selector {
  return Selector.of(new SelectorParser(text).parse())
}

type TokenKind = 'identifier' | 'end' | 'in' | 'notin' | '=' | '==' | '!=' | '!' | '>' | '<' | '(' | ')' | ','

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const end: Token = { kind: 'end', text: '' }
const token = /[ \t\r\n]*(==|!=|[=!(),><]|[^ \t\r\n=!(),><]+)/y

// apimachinery's lexer treats a NUL as the end of the input.
function tokenize(text: string): Token[] {
  const input = text.split('\0', 1)[0]!
  const tokens: Token[] = []
  token.lastIndex = 0
  for (let match = token.exec(input); match !== null; match = token.exec(input)) {
    const word = match[1]!
    const kind = /^[=!(),><]/.test(word) || word === 'in' || word === 'notin' ? (word as TokenKind) : 'identifier'
    tokens.push({ kind, text: word })
  }
  return tokens
}

class SelectorParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    for (;;) {
      const first = this.#peek()
      if (first.kind === 'end') return requirements
      if (first.kind !== 'identifier' && first.kind !== '!') {
        throw new ApiSyntaxError(`found '${first.text}', expected: !, identifier, or 'end of string'`)
      }
      requirements.push(this.#requirement())
      const separator = this.#next()
      if (separator.kind === 'end') return requirements
      if (separator.kind !== ',') {
        throw new ApiSyntaxError(`found '${separator.text}', expected: ',' or 'end of string'`)
      }
      const after = this.#peek()
      if (after.kind !== 'identifier' && after.kind !== '!') {
        throw new ApiSyntaxError(`found '${after.text}', expected: identifier after ','`)
      }
    }
  }

  #requirement(): Requirement {
    try {
      return this.#parseRequirement()
    } catch (error) {
      if (!(error instanceof ApiSyntaxError)) throw error
      throw new ApiSyntaxError(`unable to parse requirement: ${error.message}`)
    }
  }

  #parseRequirement(): Requirement {
    let word = this.#next()
    const negated = word.kind === '!'
    if (negated) word = this.#next()
    if (word.kind !== 'identifier') throw new ApiSyntaxError(`found '${word.text}', expected: identifier`)
    const key = word.text
    const problem = labelKeyError(key, FieldPath.none)
    if (problem !== undefined) throw new ApiSyntaxError(problem.toString())
    const after = this.#peek().kind
    if (negated || after === 'end' || after === ',') return newRequirement(key, negated ? '!' : 'exists', [])
    const operator = this.#operator()
    const values = operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue()
    return newRequirement(key, operator, [...new Set(values)].sort(compareUtf8))
  }

  #operator(): SelectionOperator {
    const { kind, text } = this.#nextRaw()
    switch (kind) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return kind
      case '>':
        return 'gt'
      case '<':
        return 'lt'
      default:
        throw new ApiSyntaxError(`found '${text}', expected: ${binaryOperators.join(', ')}`)
    }
  }

  #values(): string[] {
    const open = this.#next()
    if (open.kind !== '(') throw new ApiSyntaxError(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#next()
      return ['']
    }
    if (first.kind !== 'identifier' && first.kind !== ',') {
      throw new ApiSyntaxError(`found '${first.text}', expected: ',', ')' or identifier`)
    }
    return this.#valueList()
  }

  // Values may be empty: `(,a)`, `(a,)` and `(a,,b)` each contain the empty string.
  #valueList(): string[] {
    const values: string[] = []
    for (;;) {
      const word = this.#next()
      if (word.kind === 'identifier') {
        values.push(word.text)
        const after = this.#peek()
        if (after.kind === ')') break
        if (after.kind !== ',') throw new ApiSyntaxError(`found '${after.text}', expected: ',' or ')'`)
      } else if (word.kind === ',') {
        if (values.length === 0) values.push('')
        const after = this.#peek()
        if (after.kind === ')' || after.kind === ',') values.push('')
        if (after.kind === ')') break
      } else {
        throw new ApiSyntaxError(`found '${word.text}', expected: ',', or identifier`)
      }
    }
    this.#next()
    return values
  }

  #exactValue(): string[] {
    const after = this.#peek().kind
    if (after === 'end' || after === ',') return ['']
    const word = this.#next()
    if (word.kind !== 'identifier') throw new ApiSyntaxError(`found '${word.text}', expected: identifier`)
    return [word.text]
  }

  #peek(): Token {
    return asValue(this.#tokens[this.#at] ?? end)
  }

  #next(): Token {
    return asValue(this.#nextRaw())
  }

  #nextRaw(): Token {
    return this.#tokens[this.#at++] ?? end
  }
}

// `in` and `notin` are keywords only in operator position.
function asValue(found: Token): Token {
  return found.kind === 'in' || found.kind === 'notin' ? { kind: 'identifier', text: found.text } : found
}
