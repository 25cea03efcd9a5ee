import type { ComprehensionExpr, Expr, MapEntry } from './ast.ts'
import type { CelValue } from './values.ts'

/** Makes the nodes of a macro expansion; every node gets a fresh id at the position of the macro call. */
export interface MacroFactory {
  literal(value: CelValue): Expr
  ident(name: string): Expr
  accuIdent(): Expr
  call(fn: string, ...args: readonly Expr[]): Expr
  memberCall(fn: string, target: Expr, ...args: readonly Expr[]): Expr
  select(operand: Expr, field: string): Expr
  presenceTest(operand: Expr, field: string): Expr
  list(...elements: readonly Expr[]): Expr
  map(...entries: readonly MapEntry[]): Expr
  mapEntry(key: Expr, value: Expr): MapEntry
  comprehension(parts: Omit<ComprehensionExpr, 'kind' | 'id'>): Expr
  /** A copy of the expression with fresh ids. */
  copy(e: Expr): Expr
  /** The error to throw when the macro cannot be expanded; reported at the position of `at`. */
  error(message: string, at?: Expr): Error
}

/** A parse-time rewriting of a call. */
export interface CelMacro {
  readonly fn: string
  /** Whether it is called as `target.fn(...)`. */
  readonly receiver: boolean
  readonly argCount: number
  /** The expansion, or `undefined` to leave the call as it is. */
  expand(factory: MacroFactory, target: Expr | undefined, args: readonly Expr[]): Expr | undefined
}
