import { goQuote } from '@kubewright/base'
import type { FieldPath } from './field-path.ts'
import { goJson, goNumber } from './go-format.ts'
import { ERROR_STEPS, spendSteps } from './validation-steps.ts'

/** The machine-readable type of a field error; the `reason` of a cause in a Status. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

const TITLES: Readonly<Record<FieldErrorType, string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  FieldValueTypeInvalid: 'Invalid value',
  InternalError: 'Internal error',
}

/** A bad value that the error text omits. */
export const omitValue: unique symbol = Symbol('omitted value')

/** A bad value with a given text, for Go values without a JSON form, such as structs. */
export class RawValue {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * One error of one field, with the text of apimachinery's `field.Error`.
 *
 * Plain data instead of a thrown `Error`: validation returns lists of these, and an API error contains them as causes.
 */
export class FieldError {
  readonly type: FieldErrorType
  /** The path in text form, for example `spec.replicas`. */
  readonly field: string
  readonly badValue: unknown
  readonly detail: string

  constructor(type: FieldErrorType, field: FieldPath | string, badValue: unknown, detail: string) {
    spendSteps(ERROR_STEPS)
    this.type = type
    this.field = typeof field === 'string' ? field : field.toString()
    this.badValue = badValue
    this.detail = detail
  }

  /** Returns the message without the field name: the `message` of a cause in a Status. */
  errorBody(): string {
    let text = TITLES[this.type]
    if (showsValue(this.type) && this.badValue !== omitValue) text += `: ${badValueText(this.badValue)}`
    return this.detail.length === 0 ? text : `${text}: ${this.detail}`
  }

  /** Returns the full message: `field: body`. */
  toString(): string {
    return `${this.field}: ${this.errorBody()}`
  }
}

function showsValue(type: FieldErrorType): boolean {
  return (
    type !== 'FieldValueRequired' &&
    type !== 'FieldValueForbidden' &&
    type !== 'FieldValueTooLong' &&
    type !== 'InternalError'
  )
}

function badValueText(value: unknown): string {
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value)
  if (value instanceof RawValue) return value.text
  return goJson(value)
}

/** The value at the path refers to something that does not exist. */
export function notFound(path: FieldPath, value: unknown): FieldError {
  return new FieldError('FieldValueNotFound', path, value, '')
}

/** A value is required at the path. Also used for empty strings, nulls and empty lists. */
export function required(path: FieldPath, detail = ''): FieldError {
  return new FieldError('FieldValueRequired', path, '', detail)
}

/** The value occurs more than once where values must be unique. */
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return new FieldError('FieldValueDuplicate', path, value, '')
}

/** The value is malformed or out of bounds. */
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueInvalid', path, value, detail)
}

/** The value is not one of the valid values, which the text lists in the given order. */
export function notSupported(path: FieldPath, value: unknown, validValues: readonly string[]): FieldError {
  const detail = validValues.length === 0 ? '' : `supported values: ${validValues.map(goQuote).join(', ')}`
  return new FieldError('FieldValueNotSupported', path, value, detail)
}

/** The value is well-formed but not permitted under the current conditions. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return new FieldError('FieldValueForbidden', path, '', detail)
}

/** The value is longer than `maxLength`. A negative limit omits the number. The text never contains the value. */
export function tooLong(path: FieldPath, maxLength: number): FieldError {
  const detail =
    maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`
  return new FieldError('FieldValueTooLong', path, '<value omitted>', detail)
}

/** The list or map has more than `maxQuantity` entries. The text omits negative numbers. */
export function tooMany(path: FieldPath, actualQuantity: number, maxQuantity: number): FieldError {
  const detail =
    maxQuantity < 0 ? 'has too many items' : `must have at most ${maxQuantity} ${maxQuantity === 1 ? 'item' : 'items'}`
  return new FieldError('FieldValueTooMany', path, actualQuantity < 0 ? omitValue : actualQuantity, detail)
}

/** The value has another type than the schema specifies. */
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueTypeInvalid', path, value, detail)
}

/** An internal failure, not caused by the input. */
export function internalError(path: FieldPath, detail: string): FieldError {
  return new FieldError('InternalError', path, null, detail)
}

/** Returns the errors without duplicates (by full text), in their order, like `ErrorList.ToAggregate`. */
export function distinctErrors(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter((error) => {
    const text = error.toString()
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/**
 * Returns the text of all errors without duplicates: a single one as it is, several as `[a, b]`, none as the empty
 * string.
 */
export function aggregateText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => error.toString()))]
  if (texts.length === 0) return ''
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
}
