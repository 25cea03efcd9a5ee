import { utf8Length } from '@kubewright/base'
// Cost rules that several libraries share, as in apiserver/pkg/cel/library/cost.go. Estimates decide which rules a CRD
// may contain, so they must be exactly those of Kubernetes.
import {
  addRanges,
  type CallCostContext,
  type CallEstimate,
  type CostNode,
  exactly,
  type FunctionCost,
  LIST_CREATE_COST,
  multiplyRanges,
  REGEX_LENGTH_COST,
  type SizeEstimate,
  STRING_TRAVERSAL_COST,
  scaleRange,
} from '../define/cost-estimate.ts'
import { actualSize, type CelValue } from '../values/values.ts'

/** A constant cost of 1, for accessors and for comparisons of values of bounded size. */
export const NOMINAL_COST: FunctionCost = {
  estimate: () => ({ cost: exactly(1) }),
  track: () => 1,
}

/**
 * The cost of traversing the first operand `factor` times. With `keepsSize`, the result may be as long as that operand.
 */
export function traversalOfFirst(
  options: { factor?: number | undefined; keepsSize?: boolean | undefined } = {},
): FunctionCost {
  const factor = (options.factor ?? 1) * STRING_TRAVERSAL_COST
  return {
    estimate(call) {
      const first = firstOperand(call)
      if (first === undefined) return undefined
      const size = call.sizeOf(first)
      const cost = scaleRange(size, factor)
      return options.keepsSize ? { cost, resultSize: size } : { cost }
    },
    track: (_, args) => (args[0] === undefined ? undefined : Math.ceil(actualSize(args[0]) * factor)),
  }
}

/** Returns the receiver of a member call, else the first argument. */
export function firstOperand(call: CallCostContext): CostNode | undefined {
  return call.target ?? call.args[0]
}

/** The cost of one traversal of the receiver, a list or a string; for indexOf, sum and similar functions. */
export const SEARCH_COST: FunctionCost = {
  estimate(call) {
    if (call.target === undefined) return undefined
    const size = call.sizeOf(call.target)
    const element = call.elementOf(call.target)
    if (element === undefined) return { cost: scaleRange(size, STRING_TRAVERSAL_COST) }
    const isText = element.type.kind === 'string' || element.type.kind === 'bytes'
    const perElement = isText ? scaleRange(call.sizeOf(element), STRING_TRAVERSAL_COST) : exactly(0)
    return { cost: multiplyRanges(size, addRanges(exactly(1), perElement)) }
  },
  track: (_, args) => (args[0] === undefined ? 0 : traversalCost(args[0])),
}

/** Returns the cost of matching a pattern of `patternSize` characters against a text of `textSize` characters. */
export function regexCost(textSize: number, patternSize: number): number {
  // One more than the length, so that an empty text does not make an expensive pattern free.
  return Math.ceil((1 + textSize) * STRING_TRAVERSAL_COST) * Math.ceil(patternSize * REGEX_LENGTH_COST)
}

/**
 * Returns the estimate for a list function: `factor` per element of `size`, the call itself, and the creation of the
 * result.
 */
export function allocatingListEstimate(factor: number, size: SizeEstimate): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), exactly(1 + LIST_CREATE_COST)), resultSize: size }
}

/** The run-time counterpart of `allocatingListEstimate`. */
export function allocatingListCost(factor: number, size: number): number {
  return Math.trunc(size * factor) + 1 + LIST_CREATE_COST
}

/**
 * Returns the cost of traversing a value as a tree: a tenth per byte of text, rounded down per text, and 1 for other
 * leaves.
 */
export function traversalCost(value: CelValue): number {
  if (typeof value === 'string') return Math.trunc(utf8Length(value) * STRING_TRAVERSAL_COST)
  if (typeof value !== 'object' || value === null) return 1
  if ('isList' in value) {
    let cost = 0
    if (value.isList) for (const element of value) cost += traversalCost(element)
    else for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key) ?? null)
    return cost
  }
  return 'value' in value && value.value instanceof Uint8Array
    ? Math.trunc(value.value.length * STRING_TRAVERSAL_COST)
    : 1
}
