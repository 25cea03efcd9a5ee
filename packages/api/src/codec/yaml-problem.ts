import type { YAMLError } from 'yaml'

// A go-yaml error. Its scanner counts lines from one, its parser from zero, and neither mentions the first line.
interface Problem {
  readonly text: string
  /** The line as go-yaml prints it; 0 for none. */
  readonly line: number
}

/**
 * Translates an error of the `yaml` package to go-yaml's message, such as `yaml: line 2: mapping values are not allowed
 * in this context`. The two parsers detect errors at different positions, so for rare errors the text or the line may
 * differ from kubectl's.
 */
export function goYamlMessage(error: YAMLError, source: string): string {
  return messageOf(problemOf(error, source))
}

/** The message for a mapping entry without a key, which the `yaml` package accepts. */
export function missingKeyMessage(source: string, at: number): string {
  return messageOf(parser('did not find expected key', source, at))
}

function messageOf({ text, line }: Problem): string {
  return `yaml: ${line > 0 ? `line ${line}: ` : ''}${text}`
}

const dash = /^-(?:\s|$)/

function problemOf(error: YAMLError, source: string): Problem {
  const at = error.pos[0]
  if (flowProblem(error.message) !== undefined && /[[{,]\s*$/.test(source) && source.slice(at).trim() === '') {
    return { text: 'did not find expected node content', line: endLine(source) }
  }
  switch (error.code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (/^\?\s/.test(source.slice(at))) return scanner('mapping keys are not allowed in this context', source, at)
      return scanner('mapping values are not allowed in this context', source, colonAfter(source, at))
    case 'TAB_AS_INDENT':
      if (continuesText(source, at)) return scanner('found a tab character that violates indentation', source, at)
      return scanner('found character that cannot start any token', source, at)
    case 'BAD_SCALAR_START':
      if (source[at] === ',') return parser('did not find expected node content', source, at)
      return scanner('found character that cannot start any token', source, at)
    case 'BAD_DQ_ESCAPE':
      return scanner('found unknown escape character', source, at)
    case 'BAD_ALIAS':
      return scanner('did not find expected alphabetic or numeric character', source, at)
    case 'TAG_RESOLVE_FAILED':
      return scanner("did not find the expected '>'", source, at)
    case 'MULTILINE_IMPLICIT_KEY':
      return multilineKey(source, at)
    case 'MISSING_CHAR':
      return missing(error, source, at)
    case 'BAD_INDENT':
      return badIndent(error, source, at)
    case 'UNEXPECTED_TOKEN':
      return unexpected(error, source, at)
    default:
      return parser('did not find expected node content', source, at)
  }
}

// Where a mapping expects a key, a line without a colon is an error. Elsewhere it is text that continues on the next line.
function multilineKey(source: string, at: number): Problem {
  if (dash.test(source.slice(at))) return parser('did not find expected key', source, at)
  const column = at - lineStart(source, at)
  // After a dash on the same line, a new value starts, so no mapping is open at this column.
  const startsLine = source.slice(at - column, at).trim() === ''
  for (const line of startsLine ? linesBefore(source, at) : []) {
    const indent = contentColumn(line)
    if (indent === column) return noColon(source, at)
    if (line.search(/\S/) < column) break
  }
  return scanner('mapping values are not allowed in this context', source, colonAfter(source, at))
}

function missing(error: YAMLError, source: string, at: number): Problem {
  if (error.message.includes('quote')) return scanner('found unexpected end of stream', source, source.length)
  if (error.message.startsWith('Implicit map keys')) {
    return noColon(source, at)
  }
  if (error.message.includes('directives-end')) return parser('did not find expected <document start>', source, at)
  return flowEnd(error, source, at) ?? parser('did not find expected key', source, at)
}

function badIndent(error: YAMLError, source: string, at: number): Problem {
  if (source[at] === '\t') return scanner('found a tab character where an indentation space is expected', source, at)
  const flow = flowEnd(error, source, at)
  if (flow !== undefined) return flow
  const line = source.slice(lineStart(source, at), lineEnd(source, at))
  const indent = line.search(/\S/)
  const sibling = linesBefore(source, at).find((text) => text.search(/\S/) <= indent)
  const inList = sibling?.search(/\S/) === indent && dash.test(sibling.trimStart()) && !dash.test(line.trimStart())
  return parser(inList ? "did not find expected '-' indicator" : 'did not find expected key', source, at)
}

function unexpected(error: YAMLError, source: string, at: number): Problem {
  if (error.message.includes('Block scalar header')) {
    return scanner('did not find expected comment or line break', source, at)
  }
  const before = source.slice(lineStart(source, at), at).trimEnd()
  const rest = source.slice(at, lineEnd(source, at))
  if (dash.test(rest) && before.endsWith(':')) {
    return scanner('block sequence entries are not allowed in this context', source, at)
  }
  if (/^\s*[\]}]/.test(rest)) {
    const nothingYet = before === '' || before.endsWith(':')
    return parser(nothingYet ? 'did not find expected node content' : 'did not find expected key', source, at)
  }
  const root = linesBefore(source, at).at(-1) ?? ''
  if (before !== '' || !dash.test(root)) return parser('did not find expected key', source, at)
  if (/:(?:\s|$)/.test(rest)) return parser("did not find expected '-' indicator", source, at)
  return noColon(source, at)
}

// go-yaml reports a missing colon on the line after the one that lacks it.
function noColon(source: string, at: number): Problem {
  const next = nextLineWithContent(source, at)
  const text = "could not find expected ':'"
  return next < source.length ? scanner(text, source, next) : { text, line: endLine(source) + 1 }
}

// Whether the previous line ends with unquoted text that this line would continue.
function continuesText(source: string, at: number): boolean {
  const [above = ''] = linesBefore(source, at)
  return !/(?:^|\s)#|[:"'\]}|>-]\s*$/.test(above)
}

// The error of a flow list or flow map that is not closed.
function flowEnd(error: YAMLError, source: string, at: number): Problem | undefined {
  const text = flowProblem(error.message)
  if (text === undefined) return undefined
  return source.slice(at).trim() === '' ? { text, line: endLine(source) } : parser(text, source, at)
}

function flowProblem(message: string): string | undefined {
  if (/flow[ -]seq|end with a \]/i.test(message)) return "did not find expected ',' or ']'"
  if (/flow[ -]map|end with a \}/i.test(message)) return "did not find expected ',' or '}'"
  return undefined
}

function scanner(text: string, source: string, at: number): Problem {
  const line = newlinesBefore(source, at)
  return { text, line: line === 0 ? 0 : line + 1 }
}

function parser(text: string, source: string, at: number): Problem {
  return { text, line: newlinesBefore(source, at) }
}

// go-yaml reports what is missing at the end of the text on the line after the last one.
function endLine(source: string): number {
  return newlinesBefore(source, source.length) + (source.endsWith('\n') ? 0 : 1)
}

function newlinesBefore(source: string, at: number): number {
  let count = 0
  for (let i = source.indexOf('\n'); i >= 0 && i < at; i = source.indexOf('\n', i + 1)) count++
  return count
}

function lineStart(source: string, at: number): number {
  return source.lastIndexOf('\n', at - 1) + 1
}

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at)
  return end < 0 ? source.length : end
}

// The preceding lines that contain more than a comment, nearest first.
function linesBefore(source: string, at: number): string[] {
  const above = source.slice(0, lineStart(source, at)).split('\n')
  return above.filter((line) => /^\s*[^\s#]/.test(line)).reverse()
}

// The column where the content of a line starts, after the dashes of list entries.
function contentColumn(line: string): number {
  return /^(?:\s*-(?=\s))*\s*/.exec(line)![0].length
}

function colonAfter(source: string, at: number): number {
  const offset = source.slice(at).search(/:(?:\s|$)/)
  return offset < 0 ? at : at + offset
}

function nextLineWithContent(source: string, at: number): number {
  const match = /\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*/.exec(source.slice(at))
  return match === null ? source.length : at + match.index + match[0].length
}
