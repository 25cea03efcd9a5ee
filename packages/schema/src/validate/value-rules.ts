import { deepEqual, errorText, isSupportedFormat } from '@kubewright/base'
import { regexOf } from '@kubewright/cel'
import { isGoInteger } from '../field/go-format.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'

/** The JSON type of a value, with the names of kube-openapi's type validator. */
export type ValueType = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object'

/** Returns the JSON type of a value. Numbers count as integers if the API server decodes them to int64. */
export function valueType(value: unknown): ValueType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return isGoInteger(value) ? 'integer' : 'number'
    case 'bigint':
      return 'integer'
    case 'boolean':
      return 'boolean'
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object'
    default:
      return 'null'
  }
}

/**
 * How a schema reaches the validator, which determines the meaning of `format` and `x-kubernetes-int-or-string`.
 *
 * - `resource`: for custom resources, unsupported formats are ignored and int-or-string means two types.
 * - `default`: for default values in a CRD, the schema is used unchanged.
 */
export type ValidationMode = 'resource' | 'default'

/** Returns the types that a schema allows; empty means any. */
export function allowedTypes(schema: JSONSchemaProps, mode: ValidationMode): readonly string[] {
  if (mode === 'resource' && schema['x-kubernetes-int-or-string'] === true) return INTEGER_OR_STRING
  return schema.type === undefined || schema.type === '' ? NO_TYPES : [schema.type]
}

const INTEGER_OR_STRING: readonly string[] = ['integer', 'string']
const NO_TYPES: readonly string[] = []

/** Returns the effective format in this mode, or the empty string. */
export function effectiveFormat(schema: JSONSchemaProps, mode: ValidationMode): string {
  const format = schema.format ?? ''
  return mode === 'default' || isSupportedFormat(format) ? format : ''
}

/** A compiled `pattern`, or the reason why RE2 rejects it. */
export interface Pattern {
  readonly matches: (text: string) => boolean
  readonly error: string | undefined
}

/** Compiles a pattern with RE2's syntax and linear matching time. */
export function compilePattern(source: string): Pattern {
  try {
    const regex = regexOf(source)
    return { matches: (text) => regex.test(text), error: undefined }
  } catch (error) {
    return { matches: () => false, error: errorText(error) }
  }
}

const MAX_JSON_INTEGER = 2 ** 53 - 1
const EPSILON = 1e-9

/** Reports whether a float64 counts as an integer in JSON: within 2^53 and integral up to a relative error of 1e-9. */
export function isJsonInteger(value: number): boolean {
  if (!(value >= -MAX_JSON_INTEGER && value <= MAX_JSON_INTEGER)) return false
  if (Number.isInteger(value)) return true
  // As in swag.IsFloat64AJSONInteger: a negative float wraps around when converted to uint64, so it is never close.
  if (value < 0) return false
  const whole = Math.trunc(value)
  if (whole === 0) return false
  return (value - whole) / (value + whole) < EPSILON
}

/** Converts a float64 to int64 like Go on amd64: truncates; values out of range become the smallest int64. */
export function toInt64(value: number): number {
  const whole = Math.trunc(value)
  return isGoInteger(whole) ? whole : -(2 ** 63)
}

/** Returns a numeric keyword, or `undefined` if the schema does not set it. */
export function limit(value: number | null | undefined): number | undefined {
  return value ?? undefined
}

/**
 * Reports whether the value equals one of the enum values.
 *
 * As in kube-openapi, the value is first converted to the Go type of the enum value: floats are truncated to integers,
 * an integer becomes the character with that code point, and null equals no value.
 */
export function inEnum(value: unknown, allowed: readonly unknown[]): boolean {
  if (value === null) return false
  const { scalars, others } = enumOf(allowed)
  if (typeof value === 'object') return others.some((candidate) => deepEqual(value, candidate))
  if (scalars.has(value)) return true
  if (typeof value === 'bigint') {
    return allowed.some((one) => typeof one === 'number' && BigInt(Math.trunc(one)) === value)
  }
  if (typeof value !== 'number') return false
  const whole = toInt64(value)
  return (isGoInteger(whole) && scalars.has(whole)) || (isGoInteger(value) && scalars.has(codePointText(value)))
}

interface Enumeration {
  readonly scalars: ReadonlySet<unknown>
  readonly others: readonly unknown[]
}

const enumerations = new WeakMap<readonly unknown[], Enumeration>()

/** The values of an enum, so that a check does not visit all of them. Created once for each list, which must not change. */
function enumOf(allowed: readonly unknown[]): Enumeration {
  let known = enumerations.get(allowed)
  if (!known) {
    const isObject = (value: unknown): boolean => typeof value === 'object'
    const others = allowed.filter((value) => value !== null && isObject(value))
    known = { scalars: new Set(allowed.filter((value) => !isObject(value))), others }
    enumerations.set(allowed, known)
  }
  return known
}

function codePointText(code: number): string {
  return code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
}

/** Reports whether the value is a multiple of `factor`, with the arithmetic of kube-openapi. */
export function isMultipleOf(value: number, factor: number): boolean {
  if (isGoInteger(value)) {
    const whole = toInt64(factor)
    return whole > 0 && value % whole === 0
  }
  return factor > 0 && isJsonInteger(factor < 1 ? (1 / factor) * value : value / factor)
}

/**
 * Reports whether the value is within the upper bound. Integers are compared with the bound truncated to an integer.
 */
export function withinMaximum(value: number, maximum: number, exclusive: boolean): boolean {
  const bound = isGoInteger(value) ? toInt64(maximum) : maximum
  return exclusive ? value < bound : value <= bound
}

/** Like {@link withinMaximum}, for the lower bound. */
export function withinMinimum(value: number, minimum: number, exclusive: boolean): boolean {
  const bound = isGoInteger(value) ? toInt64(minimum) : minimum
  return exclusive ? value > bound : value >= bound
}
