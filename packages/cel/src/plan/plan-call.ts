import type { CelFunction, CelOverload } from '../define/library.ts'
import { compare } from '../standard/comparison.ts'
import { type CallExpr, type Expr, OPERATORS } from '../syntax/ast.ts'
import { CelError } from '../values/cel-error.ts'
import type { CelType } from '../values/cel-type.ts'
import { ArrayList, type CelList, mapKeyOf } from '../values/collections.ts'
import { celEquals } from '../values/equality.ts'
import { regexOf } from '../values/regex.ts'
import { matchesType } from '../values/runtime-type.ts'
import { CelDouble, CelUint, type CelValue, typeOf } from '../values/values.ts'
import { type CallCost, callCost, equalityCost } from './call-cost.ts'
import { constantPlan, isAbsorbable, type Plan, type Run } from './frame.ts'
import type { Planner } from './planner.ts'

/** Conversions of constants are evaluated, and may fail, at compile time. */
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
])

/**
 * Functions whose second argument is a pattern. A constant pattern is compiled, and may be rejected, at compile time.
 */
const REGEX_FUNCTIONS = new Set(['matches', 'find', 'findAll'])

type Implementation = (...args: CelValue[]) => CelValue

/** Compiles a call that evaluates all its arguments. */
export function planCall(planner: Planner, e: CallExpr): Plan {
  const reference = planner.reference(e)
  if (reference?.kind !== 'call') throw new CelError(`no such overload: ${e.fn}`)
  const fn = planner.env.function(reference.fn)!
  const operands = e.target === undefined || reference.namespaced ? e.args : [e.target, ...e.args]
  const args = operands.map((a) => planner.plan(a))
  switch (fn.name) {
    case OPERATORS.equals:
    case OPERATORS.notEquals:
      return planEquality(planner, operands, args, fn.name === OPERATORS.notEquals)
    case OPERATORS.notStrictlyFalse:
      return planNotStrictlyFalse(args[0]!)
    case OPERATORS.in: {
      const membership =
        reference.overloads.length === 1 && reference.overloads[0] === 'in_list' ? planMembership(args) : undefined
      if (membership !== undefined) return membership
    }
  }
  const pattern = REGEX_FUNCTIONS.has(fn.name) ? args[1]?.constant : undefined
  if (typeof pattern === 'string') regexOf(pattern)
  const overloads = reference.overloads.map((id) => fn.overloads.find((o) => o.id === id)!)
  const overload = overloads.length === 1 ? overloads[0]! : undefined
  const implementation =
    INT_FAST_PATHS[fn.name] ??
    bind(
      fn,
      overload,
      operands.map((a) => planner.typeOf(a)),
    )
  const cost = callCost(fn, overload)
  if (CONVERSIONS.has(fn.name) && args.length === 1 && args[0]!.constant !== undefined) {
    return constantPlan(implementation(args[0]!.constant))
  }
  return assemble(args, implementation, cost)
}

function assemble(args: readonly Plan[], implementation: Implementation, cost: CallCost): Plan {
  const fixed = args.reduce((sum, a) => sum + a.cost, typeof cost === 'number' ? cost : 0)
  return {
    run: typeof cost === 'number' ? invoke(args, implementation) : invokeTracked(args, implementation, cost),
    cost: fixed,
  }
}

function invoke(args: readonly Plan[], implementation: Implementation): Run {
  const runs = args.map((a) => a.run)
  const [first, second] = runs as [Run, Run]
  switch (runs.length) {
    case 0:
      return () => implementation()
    case 1:
      return (f) => implementation(first(f))
    case 2: {
      const constant = args[1]!.constant
      if (constant !== undefined) return (f) => implementation(first(f), constant)
      return (f) => implementation(first(f), second(f))
    }
    default:
      return (f) => implementation(...runs.map((run) => run(f)))
  }
}

function invokeTracked(args: readonly Plan[], implementation: Implementation, cost: Exclude<CallCost, number>): Run {
  return (f) => {
    let values: CelValue[]
    let result: CelValue
    try {
      values = args.map((a) => a.run(f))
      result = implementation(...values)
    } catch (e) {
      // A call that fails costs as much as a call on a value of size one.
      f.cost += 1
      throw e
    }
    f.charge(cost(values, result))
    return result
  }
}

/** Operators whose operands are usually ints. Other operands take the general path. */
const INT_FAST_PATHS: Readonly<Record<string, Implementation>> = {
  [OPERATORS.less]: (a, b) => (typeof a === 'number' && typeof b === 'number' ? a < b : compare('_<_', a!, b!) < 0),
  [OPERATORS.lessEquals]: (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a <= b : compare('_<=_', a!, b!) <= 0,
  [OPERATORS.greater]: (a, b) => (typeof a === 'number' && typeof b === 'number' ? a > b : compare('_>_', a!, b!) > 0),
  [OPERATORS.greaterEquals]: (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a >= b : compare('_>=_', a!, b!) >= 0,
}

/** Returns the implementation to call. It checks the arguments whose types are known only at run time. */
function bind(fn: CelFunction, overload: CelOverload | undefined, types: readonly CelType[]): Implementation {
  if (overload === undefined) return fn.evaluate?.bind(fn) ?? dispatch(fn)
  if (overload.evaluate === undefined) {
    if (fn.evaluate === undefined) throw new CelError(`no such overload: ${fn.name}`)
    return fn.evaluate.bind(fn)
  }
  const implementation = overload.evaluate.bind(overload)
  if (!types.some(isOpen)) return implementation
  return (...args) => {
    if (!args.every((a, i) => matchesType(a, overload.args[i]!))) throw noOverloadFor(fn.name, args)
    return implementation(...args)
  }
}

/** Reports whether values of the type have unknown parts until run time. */
function isOpen(t: CelType): boolean {
  return t.kind === 'dyn' || t.kind === 'any' || t.kind === 'error' || t.kind === 'null' || t.params.some(isOpen)
}

/** Selects the overload at run time by the types of the arguments. */
function dispatch(fn: CelFunction): Implementation {
  return (...args) => {
    for (const overload of fn.overloads) {
      if (overload.args.length !== args.length || overload.evaluate === undefined) continue
      if (args.every((a, i) => matchesType(a, overload.args[i]!))) return overload.evaluate(...args)
    }
    throw noOverloadFor(fn.name, args)
  }
}

function noOverloadFor(name: string, args: readonly CelValue[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map((a) => typeOf(a).name).join(', ')})`)
}

const SCALARS = new Set(['bool', 'int', 'uint', 'double', 'duration', 'timestamp'])

function planEquality(planner: Planner, operands: readonly Expr[], args: readonly Plan[], negated: boolean): Plan {
  const [left, right] = args as [Plan, Plan]
  const runLeft = left.run
  const runRight = right.run
  const cost = left.cost + right.cost
  // With scalar operands on both sides, the smaller size is always 1.
  if (operands.every((o) => SCALARS.has(planner.typeOf(o).kind))) {
    return { run: (f) => celEquals(runLeft(f), runRight(f)) !== negated, cost: cost + 1 }
  }
  const equals = negated ? equalsOrFalse : celEquals
  const run: Run = (f) => {
    let a: CelValue
    let b: CelValue
    try {
      a = runLeft(f)
      b = runRight(f)
    } catch (e) {
      f.cost += 1
      throw e
    }
    f.charge(equalityCost(a, b))
    return equals(a, b) !== negated
  }
  return { run, cost }
}

/** `!=` treats a failed comparison as unequal. */
function equalsOrFalse(a: CelValue, b: CelValue): boolean {
  try {
    return celEquals(a, b)
  } catch (e) {
    if (isAbsorbable(e)) return false
    throw e
  }
}

function planNotStrictlyFalse(arg: Plan): Plan {
  const { run } = arg
  return {
    run: (f) => {
      try {
        return run(f) !== false
      } catch (e) {
        if (isAbsorbable(e)) return true
        throw e
      }
    },
    cost: arg.cost + 1,
  }
}

/** Compiles `x in [constants]` to a set lookup, which costs nothing itself. */
function planMembership(args: readonly Plan[]): Plan | undefined {
  const [element, list] = args as [Plan, Plan]
  if (list.constant === undefined) return undefined
  const elements = (list.constant as CelList).toArray()
  if (elements.length === 0) return constantPlan(false)
  if (!elements.every(isHashable)) return undefined
  const keys = new Set(elements.map((e) => mapKeyOf(e)))
  const { run } = element
  if (keys.has(undefined)) {
    const all = new ArrayList(elements)
    return { run: (f) => all.contains(run(f)), cost: element.cost }
  }
  return {
    run: (f) => {
      const value = run(f)
      return keys.has(mapKeyOf(value))
    },
    cost: element.cost,
  }
}

function isHashable(v: CelValue): boolean {
  if (typeof v !== 'object') return true
  return v instanceof CelDouble || v instanceof CelUint
}
