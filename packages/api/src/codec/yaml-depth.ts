import type { Lexer } from 'yaml'

/**
 * The deepest nesting that is read. YAML's own reader goes down by recursion, and a stack that ends while a regular expression is being
 * compiled ends the process, which no error handler sees; so what is too deep must not get there.
 */
export const maxYamlDepth = 1000

/**
 * Whether a text nests deeper than {@link maxYamlDepth}, in brackets, lists within lists on one line, and indentation together. The
 * lexer is made for suspicious texts only, because its import is costly.
 */
export function isTooDeep(text: string, lexer: () => Lexer): boolean {
  const indents = indentDepth(text)
  // Brackets within texts count here, so that only suspicious texts are looked at closely.
  return indents + bracketBound(text) > maxYamlDepth && indents + tokenDepth(text, lexer()) > maxYamlDepth
}

const space = 0x20
const newline = 0x0a

/** How many lines are open at most, each further in than the one before; and the lists that begin on one line. */
function indentDepth(text: string): number {
  const open: number[] = []
  let deepest = 0
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    let from = at
    while (text.charCodeAt(from) === space) from++
    if (from < end) {
      while (open.length > 0 && open[open.length - 1]! >= from - at) open.pop()
      open.push(from - at)
      if (open.length > deepest) deepest = open.length
    }
    at = end + 1
  }
  return deepest
}

function bracketBound(text: string): number {
  let depth = 0
  let deepest = 0
  let inRow = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x5b || code === 0x7b) depth++
    else if ((code === 0x5d || code === 0x7d) && depth > 0) depth--
    else if (code === 0x2d || code === 0x3f) inRow++
    else if (code === newline) inRow = 0
    if (depth + inRow > deepest) deepest = depth + inRow
  }
  return deepest
}

function tokenDepth(text: string, lexer: Lexer): number {
  let depth = 0
  let deepest = 0
  let inRow = 0
  for (const token of lexer.lex(text)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    else if (token === '-' || token === '?') inRow++
    else if (token.includes('\n')) inRow = 0
    if (depth + inRow > deepest) deepest = depth + inRow
    if (deepest > maxYamlDepth) break
  }
  return deepest
}
