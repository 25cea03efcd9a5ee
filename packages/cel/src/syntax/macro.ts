import type { CelValue } from '../values/values.ts'
import type { ComprehensionExpr, Expr, MapEntry } from './ast.ts'

/** Creates the nodes of a macro expansion. Every node gets a new id at the position of the macro call. */
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
  /** Returns a copy of the expression with new ids. */
  copy(e: Expr): Expr
  /** Returns the error to throw if the macro cannot be expanded, reported at the position of `at`. */
  error(message: string, at?: Expr): Error
}

/** Rewrites a call at parse time. */
export interface CelMacro {
  readonly fn: string
  /** Whether the macro is called as `target.fn(...)`. */
  readonly receiver: boolean
  readonly argCount: number
  /** Returns the expansion, or `undefined` to keep the call unchanged. */
  expand(factory: MacroFactory, target: Expr | undefined, args: readonly Expr[]): Expr | undefined
}
