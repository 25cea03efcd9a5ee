import { append, trim } from '@kubewright/base'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { type ActionNode, GoFloat, type SliceBound, type StepNode, type TemplateNode } from './json-path-node.ts'
import { unquote } from './unquote.ts'

const end = ''
const dictKey = /^'([^']*)'$/
const slice = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/
const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/
const alphanumeric = /^[_\p{L}\p{Nd}]$/u
const digit = /^\p{Nd}$/u

/** Parses a JSONPath template. Throws {@link ApiSyntaxError} with the messages of client-go/util/jsonpath. */
export function parseTemplate(text: string): TemplateNode[] {
  return new TemplateParser(text).parse()
}

// Parses an action that is given without its braces.
function parseAction(text: string): ActionNode {
  const first = parseTemplate(`{${text}}`)[0]
  return first?.type === 'list' ? first : { type: 'list', steps: [] }
}

class TemplateParser {
  readonly #input: string
  #at = 0

  constructor(input: string) {
    this.#input = input
  }

  parse(): TemplateNode[] {
    const nodes: TemplateNode[] = []
    while (this.#at < this.#input.length) {
      const open = this.#input.indexOf('{', this.#at)
      const until = open < 0 ? this.#input.length : open
      if (until > this.#at) nodes.push({ type: 'text', text: this.#input.slice(this.#at, until) })
      this.#at = until
      if (open >= 0) {
        this.#at++
        nodes.push({ type: 'list', steps: this.#action() })
      }
    }
    return nodes
  }

  // Parses steps up to and including the closing brace.
  #action(): StepNode[] {
    const steps: StepNode[] = []
    for (;;) {
      if (this.#skip('}')) return steps
      if (this.#skip('[?(')) {
        steps.push(this.#filter())
        continue
      }
      if (this.#skip('..')) {
        if (steps.at(-1)?.type === 'recursive') throw new ApiSyntaxError('invalid multiple recursive descent')
        steps.push({ type: 'recursive' })
        if (alphanumeric.test(this.#peek())) steps.push(this.#field())
        continue
      }
      const char = this.#next()
      if (char === end || char === '\r' || char === '\n') throw new ApiSyntaxError('unclosed action')
      if (char === ' ' || char === '@' || char === '$') continue
      if (char === '[') append(steps, this.#array())
      else if (char === '"' || char === "'") steps.push(this.#quoted(char))
      else if (char === '.') steps.push(this.#field())
      else if (char === '+' || char === '-' || digit.test(char)) steps.push(this.#number(char))
      else if (alphanumeric.test(char)) steps.push(this.#identifier(char))
      else throw new ApiSyntaxError(`unrecognized character in action: ${unicodePoint(char)}`)
    }
  }

  #identifier(first: string): StepNode {
    let name = first
    while (!isTerminator(this.#peek())) name += this.#next()
    if (name === 'true' || name === 'false') return { type: 'value', value: name === 'true' }
    return { type: 'identifier', name }
  }

  #field(): StepNode {
    const start = this.#at
    for (;;) {
      const char = this.#peek()
      if (char !== '\\' && isTerminator(char)) break
      this.#next()
      if (char === '\\') this.#next()
    }
    const name = this.#input.slice(start, this.#at)
    return name === '*' ? { type: 'wildcard' } : { type: 'field', name: name.replaceAll('\\', '') }
  }

  #number(first: string): StepNode {
    let text = first
    while (this.#peek() === '.' || digit.test(this.#peek())) text += this.#next()
    if (/^[+-]?[0-9]+$/.test(text) && Number.isSafeInteger(Number(text))) {
      return { type: 'value', value: Number(text) + 0 }
    }
    if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$/.test(text)) throw new ApiSyntaxError(`cannot parse number ${text}`)
    return { type: 'value', value: new GoFloat(Number(text)) }
  }

  #array(): StepNode[] {
    const close = this.#input.slice(this.#at).search(/[\]\n]/)
    if (close < 0 || this.#input[this.#at + close] === '\n') throw new ApiSyntaxError('unterminated array')
    const inner = this.#input.slice(this.#at, this.#at + close)
    this.#at += close + 1
    const text = inner === '*' ? ':' : inner
    const alternatives = text.split(',')
    if (alternatives.length > 1) {
      const lists = alternatives.map((alternative) => parseAction(`[${trim(alternative, ' ')}]`))
      return [{ type: 'union', lists }]
    }
    const key = dictKey.exec(text)
    // A quoted key is parsed as a field path, so its dots must be escaped, as in `.a\.b`.
    if (key !== null) return [...parseAction(`.${key[1]}`).steps]
    const parts = slice.exec(text)
    if (parts === null) throw new ApiSyntaxError(`invalid array index ${text}`)
    return [{ type: 'array', bounds: sliceBounds(parts[1]!, parts[2], parts[3]) }]
  }

  #filter(): StepNode {
    const start = this.#at
    let quote = end
    let closed = false
    for (;;) {
      const char = this.#next()
      if (char === end || char === '\n') throw new ApiSyntaxError('unterminated filter')
      if (char === '"' || char === "'") {
        if (quote === end) quote = char
        else if (char === quote && this.#input[this.#at - 2] !== '\\') closed = true
      } else if (char === ')' && (quote !== end) === closed) {
        break
      }
    }
    const text = this.#input.slice(start, this.#at - 1)
    if (this.#next() !== ']') throw new ApiSyntaxError('unclosed array expect ]')
    const parts = comparison.exec(text)
    if (parts === null) {
      return { type: 'filter', left: parseAction(text), right: { type: 'list', steps: [] }, operator: 'exists' }
    }
    return { type: 'filter', left: parseAction(parts[1]!), right: parseAction(parts[3]!), operator: parts[2]! }
  }

  #quoted(quote: string): StepNode {
    const start = this.#at - 1
    for (;;) {
      const char = this.#next()
      if (char === end || char === '\n') throw new ApiSyntaxError('unterminated quoted string')
      if (char === quote && this.#input[this.#at - 2] !== '\\') break
    }
    const literal = this.#input.slice(start, this.#at)
    const text = unquote(literal)
    if (text === undefined) throw new ApiSyntaxError(`unquote string ${literal} error invalid syntax`)
    return { type: 'text', text }
  }

  #skip(prefix: string): boolean {
    if (!this.#input.startsWith(prefix, this.#at)) return false
    this.#at += prefix.length
    return true
  }

  #peek(): string {
    const code = this.#input.codePointAt(this.#at)
    return code === undefined ? end : String.fromCodePoint(code)
  }

  #next(): string {
    const char = this.#peek()
    this.#at += char.length
    return char
  }
}

function sliceBounds(
  first: string,
  second: string | undefined,
  third: string | undefined,
): [SliceBound, SliceBound, SliceBound] {
  const start = bound(first === '' ? undefined : first)
  const stop: SliceBound =
    second === undefined || second === ''
      ? { value: start.value + 1, known: true, derived: true }
      : bound(second.slice(1))
  return [start, stop, bound(third?.slice(1))]
}

function bound(text: string | undefined): SliceBound {
  if (text === undefined || text === '') return { value: 0, known: false }
  const value = Number(text)
  if (text === '-' || !Number.isSafeInteger(value)) throw new ApiSyntaxError(`array index ${text} is not a number`)
  return { value: value + 0, known: true }
}

function isTerminator(char: string): boolean {
  return char === end || ' \t\r\n.,[]$@{}'.includes(char)
}

// As %#U in Go: the code point, followed by the character when it is printable.
function unicodePoint(char: string): string {
  const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char) ? `${code} '${char}'` : code
}
