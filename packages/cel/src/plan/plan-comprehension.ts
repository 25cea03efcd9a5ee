import { LIST_CREATE_COST } from '../define/cost-estimate.ts'
import { ACCUMULATOR, type CallExpr, type ComprehensionExpr, type Expr, OPERATORS } from '../syntax/ast.ts'
import { ListAccumulator, MapAccumulator, settled } from '../values/accumulators.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { CelType } from '../values/cel-type.ts'
import { ArrayList, CelList, CelMap } from '../values/collections.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
} from '../values/values.ts'
import { type Frame, isAbsorbable, type Plan, type Run } from './frame.ts'
import type { Planner } from './planner.ts'

/** Compiles a fold. The shapes that the common macros expand to have specialised loops. */
export function planComprehension(planner: Planner, e: ComprehensionExpr): Plan {
  const range = planner.plan(e.range)
  const init = planner.plan(e.accuInit)
  const accuSlot = planner.enter(e.accuVar)
  const slot = planner.enter(e.iterVar)
  const slot2 = e.iterVar2 === undefined ? undefined : planner.enter(e.iterVar2)
  const iteration = { range, slot, slot2 }
  const special = planQuantifier(planner, e, iteration) ?? planCollection(planner, e, iteration)
  if (special !== undefined) {
    planner.leave(slot2 === undefined ? 2 : 3)
    return special
  }
  const condition = planner.plan(e.condition)
  const step = planner.plan(e.step)
  planner.leave(slot2 === undefined ? 1 : 2)
  const result = planner.plan(e.result)
  planner.leave(1)
  if (range.constant instanceof CelList && range.constant.size === 0) return planBinding(init, accuSlot, result)
  return planFold({ range, init, condition, step, result, accuSlot, slot, slot2 })
}

/** A fold over an empty list is a variable binding (`cel.bind`). */
function planBinding(init: Plan, slot: number, result: Plan): Plan {
  const run: Run = (f) => {
    f.locals[slot] = init.run(f)
    return result.run(f)
  }
  return { run, cost: init.cost + result.cost }
}

interface Fold {
  readonly range: Plan
  readonly init: Plan
  readonly condition: Plan
  readonly step: Plan
  readonly result: Plan
  readonly accuSlot: number
  readonly slot: number
  readonly slot2: number | undefined
}

function planFold(fold: Fold): Plan {
  const { init, condition, step, result, accuSlot } = fold
  const alwaysTrue = condition.constant === true
  const visit = (f: Frame): boolean => {
    f.charge(condition.cost)
    if (!alwaysTrue && condition.run(f) === false) return false
    f.cost += step.cost
    try {
      f.locals[accuSlot] = step.run(f)
    } catch (e) {
      if (!isAbsorbable(e)) throw e
      f.locals[accuSlot] = e
    }
    return true
  }
  const run: Run = (f) => {
    const range = fold.range.run(f)
    f.locals[accuSlot] = accumulator(init.run(f))
    forEach(f, range, fold, visit)
    return settled(result.run(f))
  }
  return { run, cost: fold.range.cost + init.cost + result.cost }
}

function accumulator(init: CelValue): CelValue {
  if (init instanceof CelList && init.size === 0) return new ListAccumulator()
  if (init instanceof CelMap && init.size === 0) return new MapAccumulator()
  return init
}

interface Iteration {
  readonly slot: number
  readonly slot2: number | undefined
}

interface RangeIteration extends Iteration {
  readonly range: Plan
}

/**
 * Calls `visit` for each element, with the variables set, until it returns false. Returns the number of elements not
 * visited.
 */
function forEach(f: Frame, range: CelValue, { slot, slot2 }: Iteration, visit: (f: Frame) => boolean): number {
  if (range instanceof CelList) {
    const { size } = range
    for (let i = 0; i < size; i++) {
      if (slot2 === undefined) {
        f.locals[slot] = range.at(i)
      } else {
        f.locals[slot] = i
        f.locals[slot2] = range.at(i)
      }
      if (!visit(f)) return size - i - 1
    }
    return 0
  }
  if (range instanceof CelMap) {
    let left = range.size
    for (const key of range.keys()) {
      left--
      f.locals[slot] = key
      if (slot2 !== undefined) f.locals[slot2] = range.get(key) ?? null
      if (!visit(f)) return left
    }
    return 0
  }
  throw new CelError(
    slot2 === undefined
      ? `got '${goTypeName(range)}', expected iterable type`
      : `unsupported comprehension range type: ${goTypeName(range)}`,
  )
}

/** Returns the Go type of a value that is neither list nor map, as printed in cel-go's message. */
function goTypeName(v: CelValue): string {
  if (v === null) return 'types.Null'
  switch (typeof v) {
    case 'string':
      return 'types.String'
    case 'boolean':
      return 'types.Bool'
    case 'number':
    case 'bigint':
      return 'types.Int'
  }
  if (v instanceof CelDouble) return 'types.Double'
  if (v instanceof CelUint) return 'types.Uint'
  if (v instanceof CelBytes) return 'types.Bytes'
  if (v instanceof CelTimestamp) return 'types.Timestamp'
  if (v instanceof CelDuration) return 'types.Duration'
  if (v instanceof CelOptional) return '*types.Optional'
  if (v instanceof CelType) return '*types.Type'
  return v instanceof CelOpaque ? v.type.name : 'ref.Val'
}

/** Compiles `all` and `exists`: the same loop with true and false exchanged. */
function planQuantifier(planner: Planner, e: ComprehensionExpr, parts: RangeIteration): Plan | undefined {
  const decisive = quantifierOf(e)
  if (decisive === undefined || e.step.kind !== 'call') return undefined
  const predicate = planner.plan(e.step.args[1]!)
  // The cost of reading the accumulator and testing whether it is decided, as in the expansion of the macro.
  const conditionCost = decisive ? 3 : 2
  const iterationCost = conditionCost + 1 + predicate.cost
  const test = predicate.run
  const run: Run = (f) => {
    const range = parts.range.run(f)
    let error: CelError | undefined
    let isDecided = false
    const left = forEach(f, range, parts, (frame) => {
      frame.charge(iterationCost)
      try {
        const value = test(frame)
        if (value === decisive) {
          isDecided = true
          return false
        }
        if (typeof value !== 'boolean') error ??= noSuchOverload()
      } catch (e) {
        if (!isAbsorbable(e)) throw e
        error ??= e
      }
      return true
    })
    if (isDecided) {
      if (left > 0) f.charge(conditionCost)
      return decisive
    }
    if (error !== undefined) throw error
    return !decisive
  }
  return { run, cost: parts.range.cost + 1 }
}

/** Returns the value that decides a quantifier: true for `exists`, false for `all`, `undefined` for any other fold. */
function quantifierOf(e: ComprehensionExpr): boolean | undefined {
  if (e.accuVar !== ACCUMULATOR || !isAccumulator(e.result) || e.accuInit.kind !== 'literal') return undefined
  if (e.step.kind !== 'call' || e.condition.kind !== 'call' || e.condition.fn !== OPERATORS.notStrictlyFalse)
    return undefined
  if (e.step.target !== undefined || !isAccumulator(e.step.args[0])) return undefined
  if (e.step.fn === OPERATORS.and && e.accuInit.value === true) return false
  if (e.step.fn === OPERATORS.or && e.accuInit.value === false) return true
  return undefined
}

function isAccumulator(e: Expr | undefined): boolean {
  return e?.kind === 'ident' && e.name === ACCUMULATOR
}

/**
 * Compiles `map` and `filter`: elements are appended directly to the result. The cost is that of the concatenations
 * which the macro expands to.
 */
function planCollection(planner: Planner, e: ComprehensionExpr, parts: RangeIteration): Plan | undefined {
  const collected = collectedBy(e)
  if (collected === undefined) return undefined
  const element = planner.plan(collected.element)
  const filter = collected.filter === undefined ? undefined : planner.plan(collected.filter)
  const listCost = element.constant === undefined ? LIST_CREATE_COST + element.cost : 0
  // The cost of reading the accumulator, creating a list with the element, and adding the two.
  const appendCost = 2 + listCost
  const run: Run = (f) => {
    const range = parts.range.run(f)
    const elements: CelValue[] = []
    forEach(f, range, parts, (frame) => {
      if (filter !== undefined) {
        frame.charge(filter.cost)
        const passes = filter.run(frame)
        if (passes === false) return true
        if (passes !== true) throw noSuchOverload()
      }
      frame.charge(appendCost)
      elements.push(element.run(frame))
      return true
    })
    return new ArrayList(elements)
  }
  return { run, cost: parts.range.cost + 1 }
}

/** Returns the element and the filter of a fold that only collects elements into a list, else undefined. */
function collectedBy(e: ComprehensionExpr): { readonly element: Expr; readonly filter: Expr | undefined } | undefined {
  if (e.accuVar !== ACCUMULATOR || !isAccumulator(e.result)) return undefined
  if (e.accuInit.kind !== 'list' || e.accuInit.elements.length > 0) return undefined
  if (e.condition.kind !== 'literal' || e.condition.value !== true || e.step.kind !== 'call') return undefined
  if (e.step.fn !== OPERATORS.conditional) return withFilter(e.step, undefined)
  const [filter, step, otherwise] = e.step.args
  return isAccumulator(otherwise) && step?.kind === 'call' ? withFilter(step, filter) : undefined
}

function withFilter(step: CallExpr, filter: Expr | undefined): ReturnType<typeof collectedBy> {
  const [accumulator, list] = step.args
  if (step.fn !== OPERATORS.add || !isAccumulator(accumulator) || list?.kind !== 'list') return undefined
  return list.elements.length === 1 && list.optional.length === 0 ? { element: list.elements[0]!, filter } : undefined
}
