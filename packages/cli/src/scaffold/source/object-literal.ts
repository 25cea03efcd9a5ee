import { classifySource, code, comment, literal } from './classify-source.ts'

/** A property of an object literal, or an element of an array literal. */
export interface LiteralPart {
  /** The name of a property; undefined for spreads, computed names and elements. */
  readonly key: string | undefined
  /** Includes the comments before it, the comma, and a comment after the comma on the same line. */
  readonly start: number
  readonly end: number
  /** The start of its own text, after those comments. */
  readonly nameStart: number
  /** The start of the value after the colon; for elements and shorthands, of the whole part. */
  readonly valueStart: number
  readonly valueEnd: number
}

/** An object or array literal in source text. */
export interface Literal {
  /** The position of the opening bracket. */
  readonly open: number
  /** The position of the closing bracket. */
  readonly close: number
  readonly parts: readonly LiteralPart[]
}

/** Source text with the class of each character. */
export interface Source {
  readonly text: string
  readonly classes: Uint8Array
}

/** Prepares text for {@link findCalls} and {@link readLiteral}. Undefined for incomplete TypeScript. */
export function readSource(text: string): Source | undefined {
  const classes = classifySource(text)
  return classes && { text, classes }
}

/** The object literals that are the first argument of calls of a function, in source order. */
export function findCalls(source: Source, name: string): Literal[] {
  const found: Literal[] = []
  for (const match of source.text.matchAll(new RegExp(`(?<![\\w$.])${name}\\s*\\(\\s*\\{`, 'g'))) {
    if (source.classes[match.index] !== code) continue
    const literal = readLiteral(source, match.index + match[0].length - 1)
    if (literal) found.push(literal)
  }
  return found
}

/** Parses the object or array literal that opens at a position. Undefined if there is none, or if it is not closed. */
export function readLiteral({ text, classes }: Source, open: number): Literal | undefined {
  if (text[open] !== '{' && text[open] !== '[') return undefined
  const parts: LiteralPart[] = []
  let depth = 0
  let start = open + 1
  for (let at = open; at < text.length; at++) {
    if (classes[at] !== code) continue
    const char = text[at]!
    if ('{[('.includes(char)) depth++
    else if ('}])'.includes(char)) {
      depth--
      if (depth > 0) continue
      const last = partOf({ text, classes }, start, at, start + text.slice(start, at).trimEnd().length)
      return { open, close: at, parts: last ? [...parts, last] : parts }
    } else if (char === ',' && depth === 1) {
      const end = endOfLine({ text, classes }, at + 1)
      const part = partOf({ text, classes }, start, at, end)
      if (part) parts.push(part)
      start = end
    }
  }
  return undefined
}

/** The position after a comment that follows on the same line, else the start. */
function endOfLine({ text, classes }: Source, start: number): number {
  let end = start
  for (let at = start; at < text.length && text[at] !== '\n'; at++) {
    if (classes[at] === comment) end = at + 1
    else if (text[at]!.trim() !== '') break
  }
  return end
}

function partOf({ text, classes }: Source, from: number, to: number, end: number): LiteralPart | undefined {
  let first = from
  while (first < to && (classes[first] === comment || text[first]!.trim() === '')) first++
  if (first === to) return undefined
  let valueEnd = to
  while (classes[valueEnd - 1] === comment || text[valueEnd - 1]!.trim() === '') valueEnd--
  const start = from + /^\s*/.exec(text.slice(from, to))![0].length
  const name = /^(?:([A-Za-z_$][\w$]*)|'([^'\\]*)'|"([^"\\]*)")\s*(:?)/.exec(text.slice(first, valueEnd))
  const key = name?.[1] ?? name?.[2] ?? name?.[3]
  if (!name || key === undefined) return { key: undefined, start, end, nameStart: first, valueStart: first, valueEnd }
  if (name[4] === '') {
    // A shorthand or an element consists of the name alone.
    const whole = name[0].trim().length === valueEnd - first
    return { key: whole ? key : undefined, start, end, nameStart: first, valueStart: first, valueEnd }
  }
  let valueStart = first + name[0].length
  while (classes[valueStart] === comment || text[valueStart]!.trim() === '') valueStart++
  return { key, start, end, nameStart: first, valueStart, valueEnd }
}

/** The source of the value of a property; undefined if there is no such property. */
export function propertyText({ text }: Source, { parts }: Literal, key: string): string | undefined {
  const part = parts.find((one) => one.key === key)
  return part && text.slice(part.valueStart, part.valueEnd)
}

/** Indents lines, except the first and those within templates. */
export function indentLines({ text, classes }: Source, start: number, end: number, by: number): string {
  let out = ''
  for (let at = start; at < end; at++) {
    out += text[at]
    if (text[at] === '\n' && classes[at] !== literal && text[at + 1] !== '\n') out += ' '.repeat(by)
  }
  return out
}

/** The indentation of the line of a position. */
export function indentOf(text: string, at: number): number {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1)
  return /^ */.exec(line)![0].length
}
