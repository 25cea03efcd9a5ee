import {
  addRanges,
  type CostEstimate,
  exactly,
  multiplyRanges,
  REGEX_LENGTH_COST,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
  scaleRange,
  UNKNOWN_SIZE,
  unionRanges,
} from '../define/cost-estimate.ts'

/** The cost and the size of an operand. */
export interface Operand {
  readonly cost: CostEstimate
  readonly size: SizeEstimate | undefined
}

/** The estimate for a call of a standard function. */
export interface StandardEstimate {
  /** The cost of the call, including its arguments, but not the receiver. */
  readonly cost: CostEstimate
  readonly resultSize?: SizeEstimate | undefined
  /** The indexes of two arguments. The elements of the result are elements of either. */
  readonly elementsOf?: readonly [number, number] | undefined
}

/** Sizes of the receiver and the first two arguments; unknown ones are unbounded. */
interface Sizes {
  readonly target: SizeEstimate
  readonly first: SizeEstimate
  readonly second: SizeEstimate
}

/** The cost of a call without its arguments, and the size of its result. */
type Rule = (sizes: Sizes) => Omit<StandardEstimate, 'cost'> & { readonly own: CostEstimate }

const traversal = (size: SizeEstimate): CostEstimate => scaleRange(size, STRING_TRAVERSAL_COST)

const concatenation: Rule = ({ first, second }) => {
  const resultSize = addRanges(first, second)
  return { own: traversal(resultSize), resultSize, elementsOf: [0, 1] }
}

/** A comparison stops at the end of the shorter operand. */
const comparison: Rule = ({ first, second }) => {
  const max = Math.min(first.max, second.max)
  return { own: traversal({ min: max > 0 ? 1 : 0, max }) }
}

const traversesFirst: Rule = ({ first }) => ({ own: traversal(first) })

/** The functions whose cost depends on sizes, by overload. All others cost 1. */
const rules: Readonly<Record<string, Rule>> = {
  string_format: ({ target }) => ({ own: traversal(target) }),
  string_to_bytes: ({ first }) => ({ own: traversal(first), resultSize: { min: first.min, max: first.max * 4 } }),
  bytes_to_string: ({ first }) => ({
    own: traversal(first),
    resultSize: { min: Math.trunc(first.min / 4), max: first.max },
  }),
  strings_quote: ({ first }) => ({
    own: traversal(first),
    resultSize: { min: first.min + 2, max: first.max * 2 + 2 },
  }),
  starts_with_string: traversesFirst,
  ends_with_string: traversesFirst,
  in_list: ({ second }) => ({ own: scaleRange(second, 1) }),
  // One more than the length, so that an empty text does not make an expensive pattern free.
  matches_string: ({ target, first }) => ({
    own: multiplyRanges(traversal(addRanges(target, exactly(1))), scaleRange(first, REGEX_LENGTH_COST)),
  }),
  contains_string: ({ target, first }) => ({ own: multiplyRanges(traversal(target), traversal(first)) }),
  add_string: concatenation,
  add_bytes: concatenation,
  // Lists are concatenated without copying.
  add_list: (sizes) => ({ ...concatenation(sizes), own: exactly(1) }),
  equals: comparison,
  not_equals: comparison,
  ...Object.fromEntries(
    ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) =>
      ['string', 'bytes'].map((type) => [`${verb}_${type}`, comparison]),
    ),
  ),
}

/** The operators that do not evaluate all of their arguments. */
const lazyOperators: Readonly<Record<string, (args: readonly Operand[]) => StandardEstimate>> = {
  logical_or: ([left, right]) => shortCircuit(left!, right!),
  logical_and: ([left, right]) => shortCircuit(left!, right!),
  conditional: ([condition, yes, no]) => ({
    cost: addRanges(condition!.cost, unionRanges(yes!.cost, no!.cost)),
    resultSize: unionRanges(yes!.size ?? UNKNOWN_SIZE, no!.size ?? UNKNOWN_SIZE),
    elementsOf: [1, 2],
  }),
}

function shortCircuit(left: Operand, right: Operand): StandardEstimate {
  return { cost: { min: left.cost.min, max: addRanges(left.cost, right.cost).max } }
}

/** Returns the estimate for a standard function. The numbers are those of cel-go. */
export function standardCallEstimate(
  overloadId: string,
  target: Operand | undefined,
  args: readonly Operand[],
): StandardEstimate {
  const lazy = lazyOperators[overloadId]
  if (lazy !== undefined) return lazy(args)
  // matches() as a global function counts as an unknown function.
  const rule = overloadId === 'matches_string' && target === undefined ? undefined : rules[overloadId]
  const [first, second] = args
  const { own, ...facts } = rule?.({
    target: target?.size ?? UNKNOWN_SIZE,
    first: first?.size ?? UNKNOWN_SIZE,
    second: second?.size ?? UNKNOWN_SIZE,
  }) ?? { own: exactly(1) }
  return { ...facts, cost: args.reduce((sum, { cost }) => addRanges(sum, cost), own) }
}
