import { OPERATORS } from './ast.ts'
import type { TokenKind } from './lexer.ts'

/** Words that cannot be identifiers. */
export const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

/** The functions of the relational operators, by token. */
export const RELATIONS: ReadonlyMap<TokenKind, string> = new Map([
  ['<', OPERATORS.less],
  ['<=', OPERATORS.lessEquals],
  ['>=', OPERATORS.greaterEquals],
  ['>', OPERATORS.greater],
  ['==', OPERATORS.equals],
  ['!=', OPERATORS.notEquals],
  ['in', OPERATORS.in],
])
/** The functions of the additive operators, by token. */
export const SUMS: ReadonlyMap<TokenKind, string> = new Map([
  ['+', OPERATORS.add],
  ['-', OPERATORS.subtract],
])
/** The functions of the multiplicative operators, by token. */
export const PRODUCTS: ReadonlyMap<TokenKind, string> = new Map([
  ['*', OPERATORS.multiply],
  ['/', OPERATORS.divide],
  ['%', OPERATORS.modulo],
])
