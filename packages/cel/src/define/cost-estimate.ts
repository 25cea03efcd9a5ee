import type { CelType } from '../values/cel-type.ts'
import type { CelValue } from '../values/values.ts'

/** The maximum cost or size. Sums and products saturate here, like unsigned 64-bit arithmetic with saturation. */
export const MAX_COST: number = 2 ** 64

/** The cost of visiting one character or byte. */
export const STRING_TRAVERSAL_COST = 0.1
/** The cost of one character of a regular expression, multiplied by the traversal cost of the text. */
export const REGEX_LENGTH_COST = 0.25
/** The cost of creating a list, without its elements. */
export const LIST_CREATE_COST = 10
/** The cost of creating a map, without its entries. */
export const MAP_CREATE_COST = 30
/** The cost of creating an object, without its fields. */
export const STRUCT_CREATE_COST = 40

/** Lower and upper bounds of a size (code points, bytes, elements) or of a cost. Immutable. */
export interface Range {
  readonly min: number
  readonly max: number
}

/** Bounds of a size. */
export type SizeEstimate = Range
/** Bounds of a cost. */
export type CostEstimate = Range

/**
 * The cost of a call without its arguments and, if the result is a string, bytes, list or map, the size of the result.
 */
export interface CallEstimate {
  readonly cost: CostEstimate
  readonly resultSize?: SizeEstimate | undefined
}

/** The bounds of an unknown size. */
export const UNKNOWN_SIZE: SizeEstimate = { min: 0, max: MAX_COST }

/** Returns the range that contains only `n`. */
export function exactly(n: number): Range {
  return { min: n, max: n }
}

/** Adds both bounds, with saturation. */
export function addRanges(a: Range, b: Range): Range {
  return { min: Math.min(MAX_COST, a.min + b.min), max: Math.min(MAX_COST, a.max + b.max) }
}

/** Multiplies both bounds, with saturation. */
export function multiplyRanges(a: Range, b: Range): Range {
  return { min: Math.min(MAX_COST, a.min * b.min), max: Math.min(MAX_COST, a.max * b.max) }
}

/** Multiplies both bounds by a factor, rounded up to whole numbers. */
export function scaleRange(a: Range, factor: number): Range {
  return { min: scale(a.min, factor), max: scale(a.max, factor) }
}

function scale(n: number, factor: number): number {
  return Math.min(MAX_COST, Math.ceil(n * factor))
}

/** Returns the smallest range that contains both. */
export function unionRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}

/** An operand, as seen by the cost estimators. */
export interface CostNode {
  /**
   * The location of the value in the declared data: a variable, then field names, `@items`, `@keys` or `@values`.
   * Absent for computed values.
   */
  readonly path: readonly string[] | undefined
  readonly type: CelType
  /** The value, if the operand is a constant. */
  readonly literal: CelValue | undefined
  /** The size, if the expression itself determines it. */
  readonly computedSize: SizeEstimate | undefined
}

/** The information available to a call estimator. */
export interface CallCostContext {
  readonly fn: string
  readonly overloadId: string
  readonly target: CostNode | undefined
  readonly args: readonly CostNode[]
  /** Returns the size of an operand: computed, else from its declaration, else unknown. */
  sizeOf(node: CostNode): SizeEstimate
  /**
   * Returns the elements of a list (or the keys of a map) as one operand; `undefined` if the type has no parameters.
   */
  elementOf(node: CostNode): CostNode | undefined
}

/**
 * The cost of a function: `estimate` computes it in advance from bounds, `track` at run time from the values. A result
 * of `undefined` selects the standard rules, in which unknown functions cost 1. For a member call, `args` of `track`
 * starts with the receiver.
 */
export interface FunctionCost {
  estimate?(call: CallCostContext): CallEstimate | undefined
  track?(overloadId: string, args: readonly CelValue[], result: CelValue): number | undefined
}
