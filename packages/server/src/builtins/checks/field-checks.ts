import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, notSupported, required } from '@kubewright/schema'

// The small checks that validation of built-in kinds repeats everywhere. Each adds to a list, so that nothing is allocated for values
// that pass.

/** Adds one Invalid for each message. */
export function addInvalid(errors: FieldError[], path: FieldPath, value: unknown, messages: readonly string[]): void {
  for (const message of messages) errors.push(invalid(path, value, message))
}

/** The value must be one of an enumeration, which the error lists as given; an empty value is missing when `needed`. */
export function checkEnum(
  errors: FieldError[],
  path: FieldPath,
  value: string | undefined,
  known: readonly string[],
  needed = false,
): void {
  if (needed && !value) errors.push(required(path))
  else if (!known.includes(value ?? '')) errors.push(notSupported(path, value ?? '', known))
}

export function checkLabel(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isDNS1123Label(value))
}

export function checkSubdomain(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isDNS1123Subdomain(value))
}

/** A label key, a condition type or the like. */
export function checkQualifiedName(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isQualifiedName(value))
}

export function checkNonNegative(errors: FieldError[], path: FieldPath, value: number | undefined): void {
  if ((value ?? 0) < 0) errors.push(invalid(path, value, 'must be greater than or equal to 0'))
}

export function checkPositive(errors: FieldError[], path: FieldPath, value: number | undefined): void {
  if ((value ?? 0) <= 0) errors.push(invalid(path, value ?? 0, 'must be greater than zero'))
}

/** A path below some directory: relative and without `..`. */
export function checkDescendingPath(errors: FieldError[], path: FieldPath, value: string): void {
  if (value.startsWith('/')) errors.push(invalid(path, value, 'must be a relative path'))
  checkNoBacksteps(errors, path, value)
}

export function checkNoBacksteps(errors: FieldError[], path: FieldPath, value: string): void {
  if (value.split('/').includes('..')) errors.push(invalid(path, value, "must not contain '..'"))
}

/** A descending path whose first name does not start with two dots either. */
export function checkLocalPath(errors: FieldError[], path: FieldPath, value: string): void {
  checkDescendingPath(errors, path, value)
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(invalid(path, value, "must not start with '..'"))
  }
}

/** Permission bits of a file. */
export function checkFileMode(errors: FieldError[], path: FieldPath, mode: number | undefined): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return
  errors.push(invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive'))
}
