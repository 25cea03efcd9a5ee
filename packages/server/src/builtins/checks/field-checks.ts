import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, notSupported, RawValue, required, tooLong } from '@kubewright/schema'
import { escapeHtml } from '../../codec/json/go-value.ts'

// Small checks that the validation of many kinds needs. Each one adds to a list, so that valid values allocate nothing.

/** Adds an Invalid error for each message. */
export function addInvalid(errors: FieldError[], path: FieldPath, value: unknown, messages: readonly string[]): void {
  for (const message of messages) errors.push(invalid(path, value, message))
}

/** The error for a value of a Go string type other than `string`, which errors show as JSON. */
export function unsupported(path: FieldPath, value: unknown, known: readonly string[]): FieldError {
  return notSupported(path, typeof value === 'string' ? namedString(value) : value, known)
}

/** A value of a Go string type other than `string`, or behind a pointer, in the form that errors show: JSON instead of a quoted text. */
export function namedString(value: string): RawValue {
  return new RawValue(escapeHtml(JSON.stringify(value)))
}

/** Checks that the value is one of `known`, which the error lists in this order. With `needed`, an empty value is reported as missing. */
export function checkEnum(
  errors: FieldError[],
  path: FieldPath,
  value: string | undefined,
  known: readonly string[],
  needed = false,
): void {
  if (needed && !value) errors.push(required(path))
  else if (!known.includes(value ?? '')) errors.push(unsupported(path, value ?? '', known))
}

/** Checks that the value is a DNS label. */
export function checkLabel(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isDNS1123Label(value))
}

/** Checks that the value is a DNS subdomain. */
export function checkSubdomain(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isDNS1123Subdomain(value))
}

/** Checks that the value is a qualified name, such as a label key or a condition type. */
export function checkQualifiedName(errors: FieldError[], path: FieldPath, value: string): void {
  addInvalid(errors, path, value, isQualifiedName(value))
}

/** Checks that the number is at least 0. A missing number counts as 0. */
export function checkNonNegative(errors: FieldError[], path: FieldPath, value: number | undefined): void {
  if ((value ?? 0) < 0) errors.push(invalid(path, value, 'must be greater than or equal to 0'))
}

/** Checks that the number is greater than 0. A missing number counts as 0. */
export function checkPositive(errors: FieldError[], path: FieldPath, value: number | undefined): void {
  if ((value ?? 0) <= 0) errors.push(invalid(path, value ?? 0, 'must be greater than zero'))
}

/** Checks that a path is relative and does not contain `..`. */
export function checkDescendingPath(errors: FieldError[], path: FieldPath, value: string): void {
  if (value.startsWith('/')) errors.push(invalid(path, value, 'must be a relative path'))
  checkNoBacksteps(errors, path, value)
}

/** Checks that no segment of a path is `..`. */
export function checkNoBacksteps(errors: FieldError[], path: FieldPath, value: string): void {
  if (value.split('/').includes('..')) errors.push(invalid(path, value, "must not contain '..'"))
}

/** As {@link checkDescendingPath}; the first segment must not start with `..` either. */
export function checkLocalPath(errors: FieldError[], path: FieldPath, value: string): void {
  checkDescendingPath(errors, path, value)
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(invalid(path, value, "must not start with '..'"))
  }
}

/** Checks the permission bits of a file. */
export function checkFileMode(errors: FieldError[], path: FieldPath, mode: number | undefined): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return
  errors.push(invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive'))
}

/** Checks the name of a CSI or DRA driver. */
export function checkCsiDriverName(errors: FieldError[], path: FieldPath, driver: string | undefined): void {
  if (!driver) {
    errors.push(required(path))
    return
  }
  if (driver.length > 63) errors.push(tooLong(path, 63))
  addInvalid(errors, path, driver, isDNS1123Subdomain(driver.toLowerCase()))
}
