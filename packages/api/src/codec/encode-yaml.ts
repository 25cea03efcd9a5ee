import { goFloat } from '@kubewright/schema'
import { compareNaturally } from './natural-order.ts'
import { needsQuotes } from './yaml-scalar.ts'

// go-yaml folds text at the first space beyond this column.
const lineWidth = 80
// Longer keys are written in the explicit form (`? key`).
const maxSimpleKey = 128

/** Options of {@link encodeYaml}. */
export interface EncodeYamlOptions {
  /** Sorts the fields of objects, as kubectl does. @default true */
  readonly sortKeys?: boolean | undefined
}

/**
 * Encodes a value as YAML as kubectl does: fields sorted, two spaces of indentation, lists not indented, strings quoted
 * only where YAML would read them as another type, multi-line strings as literal blocks, long lines folded.
 */
export function encodeYaml(value: unknown, options: EncodeYamlOptions = {}): string {
  const writer = new YamlWriter(options.sortKeys ?? true)
  writer.root(value)
  return writer.text
}

class YamlWriter {
  readonly #sortKeys: boolean
  #out = ''
  #column = 0

  constructor(sortKeys: boolean) {
    this.#sortKeys = sortKeys
  }

  get text(): string {
    // Line breaks are written before each line, so the last line still needs one.
    return `${this.#out}\n`
  }

  root(value: unknown): void {
    this.#node(value, 0, true)
  }

  // Objects may have maxJsonDepth levels, and each takes two calls: callbacks would take more, and overflow the stack.
  // `fresh`: the current line contains only indentation and dashes, so a block can start on it.
  #node(value: unknown, indent: number, fresh: boolean): void {
    if (Array.isArray(value)) {
      if (value.length === 0) this.#put(fresh ? '[]' : ' []')
      else this.#list(value, indent, fresh)
    } else if (typeof value === 'object' && value !== null) {
      const keys = Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined)
      if (keys.length === 0) this.#put(fresh ? '{}' : ' {}')
      else this.#map(value as Record<string, unknown>, keys, indent, fresh)
    } else {
      if (!fresh) this.#put(' ')
      this.#scalar(value, indent)
    }
  }

  #list(items: readonly unknown[], indent: number, fresh: boolean): void {
    for (let i = 0; i < items.length; i++) {
      if (i > 0 || !fresh) this.#newLine(indent)
      this.#put('- ')
      this.#node(items[i], indent + 2, true)
    }
  }

  #map(object: Record<string, unknown>, keys: string[], indent: number, fresh: boolean): void {
    if (this.#sortKeys) keys.sort(compareNaturally)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!
      if (i > 0 || !fresh) this.#newLine(indent)
      const value = object[key]
      if ((key.length > maxSimpleKey && width(key) > maxSimpleKey) || key.includes('\n')) {
        this.#put('? ')
        this.#string(key, indent + 2, false)
        this.#newLine(indent)
        this.#put(':')
      } else {
        this.#string(key, indent, true)
        this.#put(':')
      }
      // A list is indented like its key, other values two spaces deeper.
      this.#node(value, Array.isArray(value) ? indent : indent + 2, false)
    }
  }

  #scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.#string(value, indent, false)
    else if (typeof value === 'number' && !Number.isInteger(value)) this.#put(floatText(value))
    else if (typeof value === 'number') this.#put(BigInt(value).toString())
    else this.#put(String(value ?? null))
  }

  #string(text: string, indent: number, isKey: boolean): void {
    if (plainWord.test(text) && !needsQuotes(text)) {
      this.#put(text)
      return
    }
    const traits = traitsOf(text)
    if (text.includes('\n') && !isKey) {
      if (traits.blockAllowed) this.#literal(text, indent)
      else this.#doubleQuoted(text, indent, isKey)
    } else if (needsQuotes(text) || !traits.singleQuotedAllowed) this.#doubleQuoted(text, indent, isKey)
    else if (traits.plainAllowed) this.#folded(text, indent, isKey)
    else {
      this.#put("'")
      this.#folded(text.replaceAll("'", "''"), indent, isKey)
      this.#put("'")
    }
  }

  // Plain and single-quoted text: a single space beyond the line width becomes a line break.
  #folded(text: string, indent: number, isKey: boolean): void {
    if (isKey || !text.includes(' ')) {
      this.#put(text)
      return
    }
    let start = 0
    for (let at = 0; at < text.length; at++) {
      if (text[at] !== ' ' || text[at - 1] === ' ' || text[at + 1] === ' ' || at === 0 || at === text.length - 1)
        continue
      if (this.#column + width(text.slice(start, at)) <= lineWidth) continue
      this.#put(text.slice(start, at))
      this.#newLine(indent)
      start = at + 1
    }
    this.#put(text.slice(start))
  }

  #doubleQuoted(text: string, indent: number, isKey: boolean): void {
    this.#put('"')
    const chars = [...text]
    let afterSpace = false
    chars.forEach((char, i) => {
      if (char === ' ' && !isKey && !afterSpace && this.#column > lineWidth && i > 0 && i < chars.length - 1) {
        this.#newLine(indent)
        // Without the backslash, a space at the start of a line would be lost.
        if (chars[i + 1] === ' ') this.#put('\\')
        afterSpace = true
        return
      }
      afterSpace = char === ' '
      this.#put(escapeChar(char))
    })
    this.#put('"')
  }

  #literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? '2' : ''
    const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : ''
    this.#put(`|${hint}${chomp}`)
    const lines = text.split('\n')
    // The final line break belongs to the line before it.
    if (lines.at(-1) === '') lines.pop()
    for (const line of lines) {
      if (line === '') this.#out += '\n'
      else {
        this.#newLine(indent)
        this.#put(line)
      }
    }
    this.#column = lineWidth
  }

  #put(text: string): void {
    this.#out += text
    this.#column += width(text)
  }

  #newLine(indent: number): void {
    this.#out += `\n${' '.repeat(indent)}`
    this.#column = indent
  }
}

/** Text that needs neither quotes, except where YAML reads another type, nor line breaks. */
const plainWord = /^[A-Za-z][\w./-]*$/

interface Traits {
  readonly plainAllowed: boolean
  readonly singleQuotedAllowed: boolean
  readonly blockAllowed: boolean
}

const unprintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]|\ufeff/
const indicators = /^(?:---|\.\.\.)|^[#,[\]{}&*!|>'"%@`]|^[?:-](?:[ \t\n]|$)|:(?:[ \t\n]|$)|[ \t\n]#/

// libyaml's rules for which style can represent a text.
function traitsOf(text: string): Traits {
  if (text === '') return { plainAllowed: true, singleQuotedAllowed: true, blockAllowed: false }
  const special = unprintable.test(text)
  const spaceBreak = text.includes(' \n')
  const breakSpace = text.includes('\n ')
  return {
    plainAllowed: !special && !/^[ \n]|[ \n]$|\n/.test(text) && !indicators.test(text),
    singleQuotedAllowed: !special && !spaceBreak && !breakSpace,
    blockAllowed: !special && !spaceBreak && !text.endsWith(' '),
  }
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x85', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

function escapeChar(char: string): string {
  const short = shortEscapes.get(char)
  if (short !== undefined) return short
  if (!unprintable.test(char)) return char
  const code = char.codePointAt(0)!
  const digits = code.toString(16).toUpperCase()
  return code <= 0xff
    ? `\\x${digits.padStart(2, '0')}`
    : code <= 0xffff
      ? `\\u${digits.padStart(4, '0')}`
      : `\\U${digits.padStart(8, '0')}`
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  return goFloat(value)
}

const surrogate = /[\ud800-\udfff]/

function width(text: string): number {
  if (!surrogate.test(text)) return text.length
  let count = 0
  for (const _ of text) count++
  return count
}
