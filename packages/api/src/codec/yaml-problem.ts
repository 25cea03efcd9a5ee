import type { YAMLError } from 'yaml'

// What go-yaml reports: its scanner counts lines from one, its parser from zero, and neither mentions the first line.
interface Problem {
  readonly text: string
  /** The line as go-yaml would print it; 0 for none. */
  readonly line: number
}

/**
 * Puts an error of the `yaml` package into go-yaml's words, `yaml: line 2: mapping values are not allowed in this context`. The
 * two parsers notice mistakes at different places, so for unusual ones text or line may differ from what kubectl prints.
 */
export function goYamlMessage(error: YAMLError, source: string): string {
  const { text, line } = problemOf(error, source)
  return `yaml: ${line > 0 ? `line ${line}: ` : ''}${text}`
}

function problemOf(error: YAMLError, source: string): Problem {
  const at = error.pos[0]
  switch (error.code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      return scanner('mapping values are not allowed in this context', source, colonAfter(source, at))
    case 'TAB_AS_INDENT':
    case 'BAD_SCALAR_START':
      return scanner('found character that cannot start any token', source, at)
    case 'BAD_DQ_ESCAPE':
      return scanner('found unknown escape character', source, at)
    case 'MULTILINE_IMPLICIT_KEY':
      if (/^[ \t]*-(?:\s|$)/.test(lineAt(source, at))) {
        return scanner('block sequence entries are not allowed in this context', source, at)
      }
      return scanner("could not find expected ':'", source, nextLineWithContent(source, at))
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

function missing(error: YAMLError, source: string, at: number): Problem {
  if (error.message.includes('quote')) return scanner('found unexpected end of stream', source, source.length)
  if (error.message.startsWith('Implicit map keys')) {
    return scanner("could not find expected ':'", source, nextLineWithContent(source, at))
  }
  if (error.message.includes('directives-end')) return parser('did not find expected <document start>', source, at)
  return parser(flowProblem(error.message) ?? 'did not find expected key', source, at)
}

function badIndent(error: YAMLError, source: string, at: number): Problem {
  const flow = flowProblem(error.message)
  if (flow !== undefined) return parser(flow, source, at)
  const entry = /^[ \t]*-(?:\s|$)/
  const line = lineAt(source, at)
  const indent = line.search(/[^ ]/)
  const before = source
    .slice(0, at)
    .split('\n')
    .slice(0, -1)
    .filter((text) => text.trim() !== '')
  const sibling = before.reverse().find((text) => text.search(/[^ ]/) <= indent)
  const inList = sibling !== undefined && sibling.search(/[^ ]/) === indent && entry.test(sibling) && !entry.test(line)
  return parser(inList ? "did not find expected '-' indicator" : 'did not find expected key', source, at)
}

function unexpected(error: YAMLError, source: string, at: number): Problem {
  if (error.message.includes('Block scalar header')) {
    return scanner('did not find expected comment or line break', source, at)
  }
  if (/^[ ]*[\]}]/.test(source.slice(at))) return parser('did not find expected node content', source, at)
  const inList = /^-(?:\s|$)/.test(source.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '')
  if (inList && source.lastIndexOf('\n', at - 1) === at - 1) {
    return parser("did not find expected '-' indicator", source, at)
  }
  return parser('did not find expected key', source, at)
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

function newlinesBefore(source: string, at: number): number {
  let count = 0
  for (let i = source.indexOf('\n'); i >= 0 && i < at; i = source.indexOf('\n', i + 1)) count++
  return count
}

function lineAt(source: string, at: number): string {
  const start = source.lastIndexOf('\n', at - 1) + 1
  const end = source.indexOf('\n', at)
  return source.slice(start, end < 0 ? source.length : end)
}

function colonAfter(source: string, at: number): number {
  const offset = source.slice(at).search(/:(?:\s|$)/)
  return offset < 0 ? at : at + offset
}

function nextLineWithContent(source: string, at: number): number {
  const match = /\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*/.exec(source.slice(at))
  return match === null ? source.length : at + match.index + match[0].length
}
