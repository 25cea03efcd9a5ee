import type { CelType } from './cel-type.ts'
import type { CelValue } from './values.ts'

/** The largest cost or size; sums and products stop there, as unsigned 64-bit arithmetic with saturation does. */
export const MAX_COST: number = 2 ** 64

/** The cost of visiting one character or byte. */
export const STRING_TRAVERSAL_COST = 0.1
/** The cost of one character of a regular expression per character of text cost. */
export const REGEX_LENGTH_COST = 0.25
/** The cost of making a list, without its elements. */
export const LIST_CREATE_COST = 10
/** The cost of making a map, without its entries. */
export const MAP_CREATE_COST = 30
/** The cost of making an object, without its fields. */
export const STRUCT_CREATE_COST = 40

/** The bounds of a size (code points, bytes, elements) or of a cost. Immutable. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** The bounds of a size. */
export type SizeEstimate = Range
/** The bounds of a cost. */
export type CostEstimate = Range

/** What a call costs, without its arguments, and the size of what it yields if that is a string, bytes, list or map. */
export interface CallEstimate {
  readonly cost: CostEstimate
  readonly resultSize?: SizeEstimate
}

/** The size of what nothing is known of. */
export const UNKNOWN_SIZE: SizeEstimate = { min: 0, max: MAX_COST }

/** The range that is exactly `n`. */
export function exactly(n: number): Range {
  return { min: n, max: n }
}

/** The sum of both bounds, up to the largest cost. */
export function addRanges(a: Range, b: Range): Range {
  return { min: Math.min(MAX_COST, a.min + b.min), max: Math.min(MAX_COST, a.max + b.max) }
}

/** The product of both bounds, up to the largest cost. */
export function multiplyRanges(a: Range, b: Range): Range {
  return { min: Math.min(MAX_COST, a.min * b.min), max: Math.min(MAX_COST, a.max * b.max) }
}

/** Both bounds times a factor, rounded up to whole numbers. */
export function scaleRange(a: Range, factor: number): Range {
  return { min: scale(a.min, factor), max: scale(a.max, factor) }
}

function scale(n: number, factor: number): number {
  return Math.min(MAX_COST, Math.ceil(n * factor))
}

/** The smallest range that contains both. */
export function unionRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** An operand as the cost estimators see it. */
export interface CostNode {
  /** Where the value sits in the declared data: a variable, then field names, `@items`, `@keys` or `@values`; absent for computed values. */
  readonly path: readonly string[] | undefined
  readonly type: CelType
  /** The value, if the operand is a constant. */
  readonly literal: CelValue | undefined
  /** The size as far as the expression itself tells. */
  readonly computedSize: SizeEstimate | undefined
}

/** What a call estimator may ask. */
export interface CallCostContext {
  readonly fn: string
  readonly overloadId: string
  readonly target: CostNode | undefined
  readonly args: readonly CostNode[]
  /** The size of an operand: computed, or from its declaration, or else unknown. */
  sizeOf(node: CostNode): SizeEstimate
  /** The elements of a list (or the keys of a map) as one operand; `undefined` if the type has no parameters. */
  elementOf(node: CostNode): CostNode | undefined
}

/**
 * The cost of a function: beforehand, from bounds (`estimate`), and afterwards, from the values (`track`). `undefined` leaves it to
 * the standard rules: 1 for anything they do not know. `args` of `track` start with the receiver of a member call.
 */
export interface FunctionCost {
  estimate?(call: CallCostContext): CallEstimate | undefined
  track?(overloadId: string, args: readonly CelValue[], result: CelValue): number | undefined
}
