import { ACCUMULATOR, type Expr, OPERATORS } from '../syntax/ast.ts'
import type { CelMacro, MacroFactory } from '../syntax/macro.ts'

/** The former name of the accumulator. cel-go still rejects it as an iteration variable. */
const OLD_ACCUMULATOR = '__result__'

function receiver(
  fn: string,
  argCount: number,
  expand: (f: MacroFactory, target: Expr, args: readonly Expr[]) => Expr,
): CelMacro {
  return { fn, receiver: true, argCount, expand: (f, target, args) => expand(f, target!, args) }
}

/** Returns the name of an iteration variable. Throws `message` if the argument is not an identifier. */
function iterationVariable(f: MacroFactory, arg: Expr, message: string): string {
  if (arg.kind !== 'ident') throw f.error(message, arg)
  if (arg.name === ACCUMULATOR || arg.name === OLD_ACCUMULATOR) {
    throw f.error('iteration variable overwrites accumulator variable', arg)
  }
  return arg.name
}

interface Fold {
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

function fold(f: MacroFactory, range: Expr, variables: readonly [string, string?], parts: Fold): Expr {
  return f.comprehension({
    range,
    iterVar: variables[0],
    iterVar2: variables[1],
    accuVar: ACCUMULATOR,
    accuInit: parts.init,
    condition: parts.condition,
    step: parts.step,
    result: parts.result,
  })
}

/** Stops at the first false. An error does not stop the fold. */
function all(f: MacroFactory, predicate: Expr): Fold {
  return {
    init: f.literal(true),
    condition: f.call(OPERATORS.notStrictlyFalse, f.accuIdent()),
    step: f.call(OPERATORS.and, f.accuIdent(), predicate),
    result: f.accuIdent(),
  }
}

/** Stops at the first true. An error does not stop the fold. */
function exists(f: MacroFactory, predicate: Expr): Fold {
  return {
    init: f.literal(false),
    condition: f.call(OPERATORS.notStrictlyFalse, f.call(OPERATORS.not, f.accuIdent())),
    step: f.call(OPERATORS.or, f.accuIdent(), predicate),
    result: f.accuIdent(),
  }
}

/**
 * Counts the elements that satisfy the predicate. Unlike `exists`, it never stops early, and errors are not absorbed.
 */
function existsOne(f: MacroFactory, predicate: Expr): Fold {
  const more = f.call(OPERATORS.add, f.accuIdent(), f.literal(1))
  return {
    init: f.literal(0),
    condition: f.literal(true),
    step: f.call(OPERATORS.conditional, predicate, more, f.accuIdent()),
    result: f.call(OPERATORS.equals, f.accuIdent(), f.literal(1)),
  }
}

/**
 * A fold that collects elements: `step` extends the accumulator, for the elements that pass the filter if there is one.
 */
function collect(f: MacroFactory, init: Expr, step: Expr, filter: Expr | undefined): Fold {
  return {
    init,
    condition: f.literal(true),
    step: filter === undefined ? step : f.call(OPERATORS.conditional, filter, step, f.accuIdent()),
    result: f.accuIdent(),
  }
}

function append(f: MacroFactory, element: Expr): Expr {
  return f.call(OPERATORS.add, f.accuIdent(), f.list(element))
}

/** Expands to the fold of `map`; library macros reuse it. @internal */
export function mapFold(f: MacroFactory, range: Expr, args: readonly Expr[]): Expr {
  const name = iterationVariable(f, args[0]!, 'argument is not an identifier')
  const filter = args.length === 3 ? args[1] : undefined
  return fold(f, range, [name], collect(f, f.list(), append(f, args[args.length - 1]!), filter))
}

function quantifier(fn: string, make: (f: MacroFactory, predicate: Expr) => Fold): CelMacro[] {
  return [
    receiver(fn, 2, (f, target, args) =>
      fold(f, target, [iterationVariable(f, args[0]!, 'argument must be a simple name')], make(f, args[1]!)),
    ),
    receiver(fn, 3, (f, target, args) => fold(f, target, twoVariables(f, args), make(f, args[2]!))),
  ]
}

function twoVariables(f: MacroFactory, args: readonly Expr[]): [string, string] {
  const [first, second] = args as [Expr, Expr]
  if (first.kind !== 'ident') throw f.error('argument must be a simple name', first)
  if (second.kind !== 'ident') throw f.error('argument must be a simple name', second)
  if (first.name === second.name) throw f.error(`duplicate variable name: ${first.name}`, second)
  iterationVariable(f, first, '')
  iterationVariable(f, second, '')
  return [first.name, second.name]
}

function transform(
  fn: string,
  init: (f: MacroFactory) => Expr,
  grow: (f: MacroFactory, variables: readonly [string, string], value: Expr) => Expr,
): CelMacro[] {
  return [3, 4].map((argCount) =>
    receiver(fn, argCount, (f, target, args) => {
      const variables = twoVariables(f, args)
      const filter = argCount === 4 ? args[2] : undefined
      return fold(f, target, variables, collect(f, init(f), grow(f, variables, args[argCount - 1]!), filter))
    }),
  )
}

const has: CelMacro = {
  fn: 'has',
  receiver: false,
  argCount: 1,
  expand: (f, _target, args) => {
    const arg = args[0]!
    if (arg.kind !== 'select') throw f.error('invalid argument to has() macro', arg)
    return f.presenceTest(arg.operand, arg.field)
  },
}

/** The macros of the language, and the two-variable comprehensions. */
export const STANDARD_MACROS: readonly CelMacro[] = [
  has,
  ...quantifier('all', all),
  ...quantifier('exists', exists),
  ...quantifier('exists_one', existsOne),
  ...quantifier('existsOne', existsOne),
  receiver('map', 2, mapFold),
  receiver('map', 3, mapFold),
  receiver('filter', 2, (f, target, args) => {
    const name = iterationVariable(f, args[0]!, 'argument is not an identifier')
    return fold(f, target, [name], collect(f, f.list(), append(f, args[0]!), args[1]))
  }),
  ...transform(
    'transformList',
    (f) => f.list(),
    (f, _variables, value) => append(f, value),
  ),
  ...transform(
    'transformMap',
    (f) => f.map(),
    (f, variables, value) => f.call('cel.@mapInsert', f.accuIdent(), f.ident(variables[0]), value),
  ),
  ...transform(
    'transformMapEntry',
    (f) => f.map(),
    (f, _variables, value) => f.call('cel.@mapInsert', f.accuIdent(), value),
  ),
]
