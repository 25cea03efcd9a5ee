// The work of a validation, counted in steps. Validators of built-in kinds are plain functions over FieldPath and FieldError, so these two
// count: a step per list item or map entry that is visited, and more per error. The validation of custom resources counts list items,
// branches of anyOf, oneOf and allOf, and the length of texts that patterns read.
import { CaughtError } from '@kubewright/base'

/** The steps of one error: its text and its place in the lists that collect errors. */
export const ERROR_STEPS = 50

/** The steps of reading a text once, for a pattern or a comparison. */
export const textSteps = (text: string): number => 1 + (text.length >> 4)

/** The steps of compiling an expression: a character takes about as long as eight list items, and any expression as long as 40. */
export const expressionSteps = (expression: string): number => 40 + 8 * expression.length

/** The steps of checking one schema of a definition. */
export const SCHEMA_STEPS = 40

const repetition = /(\)?)\{(\d+),?(\d*)\}/g
/** RE2 allows no more repetitions, however they are nested. */
const mostRepetitions = 1000

/** The steps of compiling a pattern, which RE2 expands: `a{100}` becomes a hundred instructions. */
export function patternSteps(pattern: string): number {
  let single = 1
  let nested = 1
  for (const [, group, least, most] of pattern.matchAll(repetition)) {
    const count = Math.max(1, Number(least), Number(most))
    if (group) nested *= count
    else single += count
  }
  return 500 + 10 * pattern.length + 10 * Math.min(mostRepetitions, single * nested)
}

/** The steps that are left to the validation in progress. Validators do not wait, so there is at most one. */
let left = Number.POSITIVE_INFINITY
/** The patterns whose steps the validation in progress has counted: each is compiled once. */
let patterns = new Set<string>()

/** Thrown when a validation takes more steps than {@link limitValidation} allows. */
export class ValidationLimitError extends CaughtError {
  override readonly name = 'ValidationLimitError'
}

/**
 * Runs a validation and stops it with a {@link ValidationLimitError} after a number of steps. Covers the part that runs before `validate`
 * returns: the rest of an asynchronous function is not limited.
 */
export function limitValidation<T>(steps: number, validate: () => T): T {
  const before = { left, patterns }
  left = steps
  patterns = new Set()
  try {
    return validate()
  } finally {
    left = before.left
    patterns = before.patterns
  }
}

/** Counts steps of the validation in progress. */
export function spendSteps(count: number): void {
  left -= count
  if (left < 0) throw new ValidationLimitError('the validation takes too many steps')
}

/** Counts the steps of compiling a pattern, unless the validation in progress has counted them. */
export function spendPattern(pattern: string): void {
  if (left === Number.POSITIVE_INFINITY || patterns.has(pattern)) return
  patterns.add(pattern)
  spendSteps(patternSteps(pattern))
}
