import { REGEX_LENGTH_COST, STRING_TRAVERSAL_COST } from '../define/cost-estimate.ts'
import type { CelFunction, CelOverload } from '../define/library.ts'
import { OPERATORS } from '../syntax/ast.ts'
import { CelList } from '../values/collections.ts'
import { actualSize, CelOpaque, type CelValue } from '../values/values.ts'

/** The run-time cost of a call: constant, or computed from the values. */
export type CallCost = number | ((args: readonly CelValue[], result: CelValue) => number)

function traversal(size: number): number {
  return Math.ceil(size * STRING_TRAVERSAL_COST)
}

/** The cost of ordering strings or bytes: a comparison stops at the end of the shorter operand. */
export function comparisonCost(a: CelValue, b: CelValue): number {
  // Strings of up to 10 characters cost one unit, so their exact length in code points is not needed.
  if (typeof a === 'string' && typeof b === 'string') {
    const units = Math.min(a.length, b.length)
    if (units <= 10) return units === 0 ? 0 : 1
  }
  return traversal(Math.min(actualSize(a), actualSize(b)))
}

/** The cost of `a == b`. Extension types cost 1. */
export function equalityCost(a: CelValue, b: CelValue): number {
  return a instanceof CelOpaque ? 1 : comparisonCost(a, b)
}

const perFirstArgument: CallCost = (args) => traversal(actualSize(args[0]!))
const perShorter: CallCost = (args) => comparisonCost(args[0]!, args[1]!)
const perSum: CallCost = (args) => traversal(actualSize(args[0]!) + actualSize(args[1]!))

/** The standard overloads whose cost depends on sizes, as in interpreter/runtimecost.go. All others cost 1. */
const STANDARD: Readonly<Record<string, CallCost>> = {
  starts_with_string: perFirstArgument,
  ends_with_string: perFirstArgument,
  string_to_bytes: perFirstArgument,
  bytes_to_string: perFirstArgument,
  strings_quote: perFirstArgument,
  string_format: perFirstArgument,
  in_list: (args) => actualSize(args[1]!),
  less_string: perShorter,
  less_equals_string: perShorter,
  greater_string: perShorter,
  greater_equals_string: perShorter,
  less_bytes: perShorter,
  less_equals_bytes: perShorter,
  greater_bytes: perShorter,
  greater_equals_bytes: perShorter,
  add_string: perSum,
  add_bytes: perSum,
  matches_string: (args) =>
    // One more than the length, so that an empty text does not make an expensive pattern free.
    traversal(1 + actualSize(args[0]!)) * Math.ceil(actualSize(args[1]!) * REGEX_LENGTH_COST),
  contains_string: (args) => traversal(actualSize(args[0]!)) * traversal(actualSize(args[1]!)),
}

/** Concatenated lists up to this size cost one unit, as in cel-go, where a concatenation refers to its operands. */
const FREE_ELEMENTS = 100

/** The cost of `+` when it may concatenate lists. Here it copies the elements, so long lists cost their creation. */
const concatenation: CallCost = (args, result) => {
  // A fold appends in place.
  if (!(result instanceof CelList) || result === args[0] || result.size <= FREE_ELEMENTS) return 1
  return 1 + traversal(result.size)
}

/**
 * Returns the cost of a call. `overload` is undefined if the call resolved to several overloads; their cost rules are
 * then ignored.
 */
export function callCost(fn: CelFunction, overload: CelOverload | undefined): CallCost {
  if (fn.name === OPERATORS.add && (overload === undefined || overload.id === 'add_list')) return concatenation
  const standard = (overload === undefined ? undefined : STANDARD[overload.id]) ?? 1
  const trackers = [overload?.cost, fn.cost].filter((c) => c?.track !== undefined)
  if (trackers.length === 0) return standard
  const id = overload?.id ?? ''
  return (args, result) => {
    for (const tracker of trackers) {
      const cost = tracker!.track!(id, args, result)
      if (cost !== undefined) return cost
    }
    return typeof standard === 'number' ? standard : standard(args, result)
  }
}
