import type { CelValue } from './values.ts'

/** A node of a parsed expression. Ids are unique within an expression and index positions, types and references. */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr

/** A constant. */
export interface LiteralExpr {
  readonly kind: 'literal'
  readonly id: number
  readonly value: CelValue
}

/** A name; a leading dot means that no enclosing scope may shadow it. */
export interface IdentExpr {
  readonly kind: 'ident'
  readonly id: number
  readonly name: string
}

/** `operand.field`, or with `testOnly` the presence test that `has()` expands to. */
export interface SelectExpr {
  readonly kind: 'select'
  readonly id: number
  readonly operand: Expr
  readonly field: string
  readonly testOnly: boolean
}

/** A function call; operators are calls of functions such as `_+_`. */
export interface CallExpr {
  readonly kind: 'call'
  readonly id: number
  readonly fn: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

/** A list literal; `optional` holds the indexes of elements written `?x`. */
export interface ListExpr {
  readonly kind: 'list'
  readonly id: number
  readonly elements: readonly Expr[]
  readonly optional: readonly number[]
}

/** An entry of a map literal. */
export interface MapEntry {
  readonly id: number
  readonly key: Expr
  readonly value: Expr
  readonly optional: boolean
}

/** A map literal. */
export interface MapExpr {
  readonly kind: 'map'
  readonly id: number
  readonly entries: readonly MapEntry[]
}

/** A field of an object literal. */
export interface StructField {
  readonly id: number
  readonly name: string
  readonly value: Expr
  readonly optional: boolean
}

/** An object literal, `Type{field: value}`. */
export interface StructExpr {
  readonly kind: 'struct'
  readonly id: number
  readonly typeName: string
  readonly fields: readonly StructField[]
}

/**
 * The fold that every comprehension macro expands to: `accuVar` starts as `accuInit`; for each element of `range`, while `condition`
 * holds, it becomes `step`; then `result` is the value. `iterVar2` makes it a fold over (index, element) or (key, value).
 */
export interface ComprehensionExpr {
  readonly kind: 'comprehension'
  readonly id: number
  readonly range: Expr
  readonly iterVar: string
  readonly iterVar2: string | undefined
  readonly accuVar: string
  readonly accuInit: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

/** The name of the accumulator in macro expansions; no source text can spell it. */
export const ACCUMULATOR = '@result'

/** Function names of the operators, as error messages print them. */
export const OPERATORS = {
  conditional: '_?_:_',
  and: '_&&_',
  or: '_||_',
  not: '!_',
  equals: '_==_',
  notEquals: '_!=_',
  less: '_<_',
  lessEquals: '_<=_',
  greater: '_>_',
  greaterEquals: '_>=_',
  add: '_+_',
  subtract: '_-_',
  multiply: '_*_',
  divide: '_/_',
  modulo: '_%_',
  negate: '-_',
  index: '_[_]',
  optIndex: '_[?_]',
  optSelect: '_?._',
  in: '@in',
  notStrictlyFalse: '@not_strictly_false',
} as const

/** `a.b.c` as a dotted name, if the expression is nothing but names. */
export function qualifiedName(e: Expr): string | undefined {
  if (e.kind === 'ident') return e.name
  if (e.kind !== 'select' || e.testOnly) return undefined
  const prefix = qualifiedName(e.operand)
  return prefix === undefined ? undefined : `${prefix}.${e.field}`
}

/** The nodes directly below a node, in source order. */
export function childrenOf(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [e.operand]
    case 'call':
      return e.target === undefined ? e.args : [e.target, ...e.args]
    case 'list':
      return e.elements
    case 'map':
      return e.entries.flatMap((entry) => [entry.key, entry.value])
    case 'struct':
      return e.fields.map((field) => field.value)
    case 'comprehension':
      return [e.range, e.accuInit, e.condition, e.step, e.result]
  }
}
