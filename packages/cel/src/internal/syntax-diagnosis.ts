import type { Token } from './lexer.ts'
import type { SourceIssue } from './source.ts'

export function diagnoseSyntax(tokens: readonly Token[]): SourceIssue[] {
  return [{ offset: tokens[tokens.length - 1]!.start, message: 'Syntax error' }]
}
