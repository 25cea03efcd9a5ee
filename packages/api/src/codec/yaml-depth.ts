import type { Lexer } from 'yaml'

/**
 * The maximum nesting depth. The YAML parser is recursive, and a stack overflow while V8 compiles a regular expression
 * aborts the process without reaching any error handler. Deeper texts must therefore be rejected before parsing.
 */
export const maxYamlDepth = 1000

/**
 * Whether a text nests deeper than {@link maxYamlDepth}. Counts brackets, lists that start on one line, and indentation
 * together. The lexer is created only for suspicious texts, because importing it is expensive.
 */
export function isTooDeep(text: string, lexer: () => Lexer): boolean {
  const indents = indentDepth(text)
  // The bound also counts brackets inside strings, so it never misses a deep text; the lexer then gives the exact depth.
  return indents + bracketBound(text) > maxYamlDepth && indents + tokenDepth(text, lexer()) > maxYamlDepth
}

const space = 0x20
const newline = 0x0a

/** The maximum number of enclosing lines, each indented further than the one before it. */
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
