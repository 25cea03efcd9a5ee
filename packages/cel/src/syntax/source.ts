import { CelCompileError, type CelIssue } from '../values/cel-error.ts'

/** The offset of an issue of an expression that has no position itself: cel-go computes column 0 of the first line. */
export const BEFORE_SOURCE = -2

/** An issue at an offset of the source, in UTF-16 units. Offset -1 means that it has no position. */
export interface SourceIssue {
  readonly offset: number
  readonly message: string
}

const MAX_ISSUES = 100
const MAX_SNIPPET_BYTES = 16384

/** Returns the error for the issues of a source, in source order and in cel-go's layout (common/error.go). */
export function compileError(source: string, found: readonly SourceIssue[]): CelCompileError {
  const lines = source.split('\n')
  const kept = found.slice(0, MAX_ISSUES).map((issue) => ({ ...locate(lines, issue.offset), message: issue.message }))
  // The sort is stable: issues at the same position stay in the order of their discovery.
  kept.sort((a, b) => a.line - b.line || a.column - b.column)
  const texts = kept.map((issue) => display(lines, issue))
  if (found.length > MAX_ISSUES) texts.push(`${found.length - MAX_ISSUES} more errors were truncated`)
  return new CelCompileError(texts.join('\n'), kept)
}

function locate(lines: readonly string[], offset: number): { line: number; column: number } {
  if (offset < 0) return { line: offset === BEFORE_SOURCE ? 1 : -1, column: -1 }
  let rest = offset
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    if (rest <= line.length || i === lines.length - 1)
      return { line: i + 1, column: Array.from(line.slice(0, rest)).length }
    rest -= line.length + 1
  }
  return { line: 1, column: 0 }
}

function display(lines: readonly string[], issue: CelIssue): string {
  // cel-go does not know the lines of an empty source.
  if (lines.length === 1 && lines[0] === '') return `ERROR: <input>:${issue.line}:${issue.column}: ${issue.message}`
  const head = `ERROR: <input>:${issue.line}:${issue.column + 1}: ${issue.message}`
  const snippet = lines[issue.line - 1]
  if (snippet === undefined || new TextEncoder().encode(snippet).length > MAX_SNIPPET_BYTES) return head
  const text = Array.from(snippet.replaceAll('\t', ' '))
  let marks = ''
  for (let i = 0; i < issue.column && i < text.length; i++) marks += isWide(text[i]!) ? '\uff0e' : '.'
  const at = text[issue.column]
  marks += at !== undefined && isWide(at) ? '\uff3e' : '^'
  return `${head}\n | ${text.join('')}\n | ${marks}`
}

function isWide(char: string): boolean {
  return char.charCodeAt(0) > 0x7f
}
