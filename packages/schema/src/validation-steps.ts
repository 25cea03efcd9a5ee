// The work of a validation, counted in steps. Validators of built-in kinds are plain functions over FieldPath and FieldError, so these two
// count: a step per list item or map entry that is visited, and more per error.

/** The steps of one error: its text and its place in the lists that collect errors. */
export const ERROR_STEPS = 50

/** The steps that are left to the validation in progress. Validators do not wait, so there is at most one. */
let left = Number.POSITIVE_INFINITY

/** Thrown when a validation takes more steps than {@link limitValidation} allows. */
export class ValidationLimitError extends Error {
  override readonly name = 'ValidationLimitError'
}

/**
 * Runs a validation and stops it with a {@link ValidationLimitError} after a number of steps. Covers the part that runs before `validate`
 * returns: the rest of an asynchronous function is not limited.
 */
export function limitValidation<T>(steps: number, validate: () => T): T {
  const before = left
  left = steps
  try {
    return validate()
  } finally {
    left = before
  }
}

/** Counts steps of the validation in progress. */
export function spendSteps(count: number): void {
  left -= count
  if (left < 0) throw new ValidationLimitError('the validation takes too many steps')
}
