import { classifySource, code, comment, literal } from './classify-source.ts'

/** A property of an object literal, or an element of an array literal. */
export interface LiteralPart {
  /** The name of a property; undefined for spreads, computed names and elements. */
  readonly key: string | undefined
  /** With the comments in front of it, the comma, and a comment behind that on the same line. */
  readonly start: number
  readonly end: number
  /** Where its own text starts, behind those comments. */
  readonly nameStart: number
  /** Of what follows the colon; for elements and shorthands of the whole. */
  readonly valueStart: number
  readonly valueEnd: number
}

/** An object or array literal in source text. */
export interface Literal {
  /** Of the opening bracket. */
  readonly open: number
  /** Of the closing one. */
  readonly close: number
  readonly parts: readonly LiteralPart[]
}

/** Source text in which literals can be found. */
export interface Source {
  readonly text: string
  readonly classes: Uint8Array
}

/** Prepares text for {@link findCall} and {@link readLiteral}; undefined for what is no complete TypeScript. */
export function readSource(text: string): Source | undefined {
  const classes = classifySource(text)
  return classes && { text, classes }
}

/** The object literals that are the first argument of calls of a function, in the order of the text. */
export function findCalls(source: Source, name: string): Literal[] {
  const found: Literal[] = []
  for (const match of source.text.matchAll(new RegExp(`(?<![\\w$.])${name}\\s*\\(\\s*\\{`, 'g'))) {
    if (source.classes[match.index] !== code) continue
    const literal = readLiteral(source, match.index + match[0].length - 1)
    if (literal) found.push(literal)
  }
  return found
}

/** Reads the object or array literal that opens at a position; undefined when there is none that closes. */
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

/** Past a comment that follows on the same line, if there is one. */
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
    // A shorthand or an element is the name and nothing else.
    const whole = name[0].trim().length === valueEnd - first
    return { key: whole ? key : undefined, start, end, nameStart: first, valueStart: first, valueEnd }
  }
  let valueStart = first + name[0].length
  while (classes[valueStart] === comment || text[valueStart]!.trim() === '') valueStart++
  return { key, start, end, nameStart: first, valueStart, valueEnd }
}

/** The value of a property as text; undefined when there is no such property. */
export function propertyText({ text }: Source, { parts }: Literal, key: string): string | undefined {
  const part = parts.find((one) => one.key === key)
  return part && text.slice(part.valueStart, part.valueEnd)
}

/** Moves lines to the right, but for those within templates and the first. */
export function indentLines({ text, classes }: Source, start: number, end: number, by: number): string {
  let out = ''
  for (let at = start; at < end; at++) {
    out += text[at]
    if (text[at] === '\n' && classes[at] !== literal && text[at + 1] !== '\n') out += ' '.repeat(by)
  }
  return out
}

/** How far the line of a position is indented. */
export function indentOf(text: string, at: number): number {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1)
  return /^ */.exec(line)![0].length
}
