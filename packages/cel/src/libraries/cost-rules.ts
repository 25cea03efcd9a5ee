// The cost rules that several libraries share, as in apiserver/pkg/cel/library/cost.go. Estimates decide which rules a
// CRD may carry, so neither cheaper nor dearer is harmless: they must stay what Kubernetes computes.
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
} from '../cost-estimate.ts'
import { actualSize, type CelValue } from '../values.ts'

/** 1, always: for accessors and for what compares values of bounded size. */
export const NOMINAL_COST: FunctionCost = {
  estimate: () => ({ cost: exactly(1) }),
  track: () => 1,
}

/** One reading of the first operand, `factor` times. With `keepsSize` the result can be as long as that operand. */
export function traversalOfFirst(options: { factor?: number; keepsSize?: boolean } = {}): FunctionCost {
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

/** The receiver of a member call, else the first argument. */
export function firstOperand(call: CallCostContext): CostNode | undefined {
  return call.target ?? call.args[0]
}

/** One walk over the receiver, a list or a string: for indexOf, sum and their like. */
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

/** What running a pattern of `patternSize` characters over a text of `textSize` costs, once. */
export function regexCost(textSize: number, patternSize: number): number {
  // One more than the text has, so that an empty text does not make an expensive pattern free.
  return Math.ceil((1 + textSize) * STRING_TRAVERSAL_COST) * Math.ceil(patternSize * REGEX_LENGTH_COST)
}

/** The estimate for a list function: `factor` per element of `size`, the call, and the list it makes. */
export function allocatingListEstimate(factor: number, size: SizeEstimate): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), exactly(1 + LIST_CREATE_COST)), resultSize: size }
}

/** The tracked counterpart of `allocatingListEstimate`. */
export function allocatingListCost(factor: number, size: number): number {
  return Math.trunc(size * factor) + 1 + LIST_CREATE_COST
}

/** The cost of walking a value as a tree: a tenth per byte of text, rounded down for each text, and 1 for other leaves. */
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

function utf8Length(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) length += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2
  }
  return length
}
