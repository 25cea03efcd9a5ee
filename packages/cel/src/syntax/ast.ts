import type { CelValue } from '../values/values.ts'

/**
 * A node of a parsed expression. Ids are unique within an expression; positions, types and references are looked up by
 * id.
 */
export type Expr = LiteralExpr | IdentExpr | SelectExpr | CallExpr | ListExpr | MapExpr | StructExpr | ComprehensionExpr

/** A constant. */
export interface LiteralExpr {
  readonly kind: 'literal'
  readonly id: number
  readonly value: CelValue
}

/** An identifier. A name with a leading dot is resolved at the root: comprehension variables do not shadow it. */
export interface IdentExpr {
  readonly kind: 'ident'
  readonly id: number
  readonly name: string
}

/** `operand.field`. With `testOnly`, the presence test that `has()` expands to. */
export interface SelectExpr {
  readonly kind: 'select'
  readonly id: number
  readonly operand: Expr
  readonly field: string
  readonly testOnly: boolean
}

/** A function call. Operators are calls of functions such as `_+_`. */
export interface CallExpr {
  readonly kind: 'call'
  readonly id: number
  readonly fn: string
  readonly target: Expr | undefined
  readonly args: readonly Expr[]
}

/** A list literal. `optional` contains the indexes of elements written as `?x`. */
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
 * The fold that every comprehension macro expands to. `accuVar` starts as `accuInit`. For each element of `range`,
 * while `condition` holds, `accuVar` becomes `step`. The value is `result`. With `iterVar2`, the fold runs over (index,
 * element) or (key, value) pairs.
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

/** The name of the accumulator in macro expansions. It is not a valid identifier, so no source text can refer to it. */
export const ACCUMULATOR = '@result'

/** The function names of the operators, as printed in error messages. */
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

/** Returns `a.b.c` as a dotted name if the expression consists of names only. */
export function qualifiedName(e: Expr): string | undefined {
  if (e.kind === 'ident') return e.name
  if (e.kind !== 'select' || e.testOnly) return undefined
  const prefix = qualifiedName(e.operand)
  return prefix === undefined ? undefined : `${prefix}.${e.field}`
}

/** Returns the direct children of a node, in source order. */
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
