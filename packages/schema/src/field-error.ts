import { goQuote } from '@kubewright/base'
import type { FieldPath } from './field-path.ts'
import { goJson, goNumber } from './go-format.ts'

/** The machine-readable kind of a field error; as the `reason` of a cause in a Status. */
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

/** A bad value that is not shown in the error text. */
export const omitValue: unique symbol = Symbol('omitted value')

/** A bad value that prints as the given text, for Go values that have no JSON form (for instance structs). */
export class RawValue {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * One thing wrong with one field, with the text of apimachinery's `field.Error`.
 *
 * Plain data rather than a thrown `Error`: validation returns lists of these, and an API error carries them as causes.
 */
export class FieldError {
  readonly type: FieldErrorType
  /** The path in text form, for instance `spec.replicas`. */
  readonly field: string
  readonly badValue: unknown
  readonly detail: string

  constructor(type: FieldErrorType, field: FieldPath | string, badValue: unknown, detail: string) {
    this.type = type
    this.field = typeof field === 'string' ? field : field.toString()
    this.badValue = badValue
    this.detail = detail
  }

  /** The message without the field name, as `message` of a cause in a Status. */
  errorBody(): string {
    let text = TITLES[this.type]
    if (showsValue(this.type) && this.badValue !== omitValue) text += `: ${badValueText(this.badValue)}`
    return this.detail.length === 0 ? text : `${text}: ${this.detail}`
  }

  /** The full message: `field: body`. */
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

/** The value at the path was looked up and not found. */
export function notFound(path: FieldPath, value: unknown): FieldError {
  return new FieldError('FieldValueNotFound', path, value, '')
}

/** A value must be given at the path (also for empty strings, nulls and empty lists). */
export function required(path: FieldPath, detail = ''): FieldError {
  return new FieldError('FieldValueRequired', path, '', detail)
}

/** The value collides with another one that it must differ from. */
export function duplicate(path: FieldPath, value: unknown): FieldError {
  return new FieldError('FieldValueDuplicate', path, value, '')
}

/** The value is malformed or out of bounds. */
export function invalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueInvalid', path, value, detail)
}

/** The value is none of the enumerated ones, which the text lists in the given order. */
export function notSupported(path: FieldPath, value: unknown, validValues: readonly string[]): FieldError {
  const detail = validValues.length === 0 ? '' : `supported values: ${validValues.map(goQuote).join(', ')}`
  return new FieldError('FieldValueNotSupported', path, value, detail)
}

/** The value is well formed but not permitted under the current conditions. */
export function forbidden(path: FieldPath, detail: string): FieldError {
  return new FieldError('FieldValueForbidden', path, '', detail)
}

/** The value is longer than `maxLength`; a negative limit leaves the number out. The value itself is never shown. */
export function tooLong(path: FieldPath, maxLength: number): FieldError {
  const detail =
    maxLength < 0 ? 'value is too long' : `may not be more than ${maxLength} ${maxLength === 1 ? 'byte' : 'bytes'}`
  return new FieldError('FieldValueTooLong', path, '<value omitted>', detail)
}

/** The list or map holds more than `maxQuantity` entries; negative numbers are left out of the text. */
export function tooMany(path: FieldPath, actualQuantity: number, maxQuantity: number): FieldError {
  const detail =
    maxQuantity < 0 ? 'has too many items' : `must have at most ${maxQuantity} ${maxQuantity === 1 ? 'item' : 'items'}`
  return new FieldError('FieldValueTooMany', path, actualQuantity < 0 ? omitValue : actualQuantity, detail)
}

/** The value is of another type than the schema says. */
export function typeInvalid(path: FieldPath, value: unknown, detail: string): FieldError {
  return new FieldError('FieldValueTypeInvalid', path, value, detail)
}

/** Something failed that is not the fault of the input. */
export function internalError(path: FieldPath, detail: string): FieldError {
  return new FieldError('InternalError', path, null, detail)
}

/** The errors without those whose full text was seen before, in their order (as `ErrorList.ToAggregate`). */
export function distinctErrors(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter((error) => {
    const text = error.toString()
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}

/** The text of all errors: the only one bare, several as `[a, b]`, repeated ones once, none as the empty string. */
export function aggregateText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => error.toString()))]
  if (texts.length === 0) return ''
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`
}
