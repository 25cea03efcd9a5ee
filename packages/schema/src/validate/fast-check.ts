import { codePointLength, deepEqual, formatCheck } from '@kubewright/base'
import { isGoInteger } from '../field/go-format.ts'
import { spendSteps, textSteps } from '../field/validation-steps.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import type { JsonObject } from '../model/structural-node.ts'
import {
  allowedTypes,
  compilePattern,
  effectiveFormat,
  inEnum,
  isJsonInteger,
  isMultipleOf,
  limit,
  toInt64,
  type ValidationMode,
} from './value-rules.ts'

/** Reports whether a value satisfies a schema. Allocates nothing and never throws on JSON data. */
export type Check = (value: unknown) => boolean

/** A check that is compiled on first use, so that unused parts of large or cyclic schemas cost nothing. */
interface Slot {
  check: Check
}

const always: Check = () => true
const never: Check = () => false

/**
 * Compiles schemas to closures, each schema once. Invariant: a check accepts exactly the values that the exact
 * validator accepts; the latter explains failures.
 */
export class CheckCompiler {
  readonly #mode: ValidationMode
  readonly #slots = new Map<JSONSchemaProps, Slot>()

  constructor(mode: ValidationMode) {
    this.#mode = mode
  }

  /** Returns the check of a schema. */
  compile(schema: JSONSchemaProps): Check {
    const slot = this.#slot(schema)
    return (value) => slot.check(value)
  }

  #slot(schema: JSONSchemaProps): Slot {
    let slot = this.#slots.get(schema)
    if (slot === undefined) {
      const fresh: Slot = {
        check: (value) => {
          fresh.check = this.#build(schema)
          return fresh.check(value)
        },
      }
      this.#slots.set(schema, fresh)
      slot = fresh
    }
    return slot
  }

  /**
   * Compiles a schema to one function per JSON type, so that a check starts with a dispatch on the type of the value.
   */
  #build(schema: JSONSchemaProps): Check {
    const types = allowedTypes(schema, this.#mode)
    const format = effectiveFormat(schema, this.#mode)
    const allowed = schema.enum ?? []
    const any = types.length === 0
    const numeric = types.includes('integer') || types.includes('number')
    // As in type.go of kube-openapi, strings and lists with a format pass the check of any type that is not numeric.
    const lenient = format !== '' && !numeric
    const typeless = any && format === ''
    const nullOk = (any || schema.nullable === true) && allowed.length === 0
    const onString = typeless || lenient || types.includes('string') ? this.#string(schema, format) : never
    const onInteger = typeless || numeric ? numberCheck(schema) : never
    const onFloat =
      typeless || types.includes('number') ? onInteger : types.includes('integer') ? integralOnly(onInteger) : never
    const onBoolean = typeless || types.includes('boolean') ? always : never
    const onArray = typeless || lenient || types.includes('array') ? this.#array(schema) : never
    const onObject = typeless || types.includes('object') ? this.#object(schema) : never
    const rest = this.#rest(schema, allowed)
    if (types.length === 1 && format === '' && rest === always && schema.nullable !== true) {
      // The common case: one type without further keywords.
      if (types[0] === 'object') {
        return (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && onObject(value)
      }
      if (types[0] === 'array') return (value) => Array.isArray(value) && onArray(value)
      if (types[0] === 'string') return (value) => typeof value === 'string' && onString(value)
      if (types[0] === 'boolean') return (value) => typeof value === 'boolean'
      return (value) => {
        if (typeof value !== 'number') return typeof value === 'bigint' && onInteger(Number(value))
        return isGoInteger(value) ? onInteger(value) : onFloat(value)
      }
    }
    return (value) => {
      switch (typeof value) {
        case 'string':
          return onString(value) && rest(value)
        case 'number':
          return (isGoInteger(value) ? onInteger : onFloat)(value) && rest(value)
        case 'bigint':
          return onInteger(Number(value)) && rest(value)
        case 'boolean':
          return onBoolean(value) && rest(value)
        case 'object':
          if (value === null) return nullOk
          return (Array.isArray(value) ? onArray : onObject)(value) && rest(value)
        default:
          return nullOk
      }
    }
  }

  /** Compiles enum and junctors, which apply to values of every type except null. */
  #rest(schema: JSONSchemaProps, allowed: readonly unknown[]): Check {
    const checks: Check[] = []
    if (allowed.length > 0) checks.push((value) => inEnum(value, allowed))
    const anyOf = (schema.anyOf ?? []).map((branch) => this.#slot(branch))
    const oneOf = (schema.oneOf ?? []).map((branch) => this.#slot(branch))
    const not = schema.not === undefined || schema.not === null ? undefined : this.#slot(schema.not)
    if (anyOf.length > 0) {
      checks.push((value) => {
        spendSteps(anyOf.length)
        for (let i = 0; i < anyOf.length; i++) if ((anyOf[i] as Slot).check(value)) return true
        return false
      })
    }
    if (oneOf.length > 0) {
      checks.push((value) => {
        let valid = 0
        spendSteps(oneOf.length)
        for (let i = 0; i < oneOf.length; i++) if ((oneOf[i] as Slot).check(value)) valid++
        return valid === 1
      })
    }
    for (const branch of schema.allOf ?? []) {
      const slot = this.#slot(branch)
      checks.push((value) => {
        spendSteps(1)
        return slot.check(value)
      })
    }
    if (not !== undefined) checks.push((value) => !not.check(value))
    return allOf(checks)
  }

  #string(schema: JSONSchemaProps, format: string): Check {
    const maxLength = limit(schema.maxLength) ?? Number.POSITIVE_INFINITY
    const minLength = limit(schema.minLength) ?? 0
    const pattern =
      schema.pattern === undefined || schema.pattern === '' ? undefined : compilePattern(schema.pattern).matches
    const hasFormat = formatCheck(format)
    if (maxLength === Number.POSITIVE_INFINITY && minLength <= 0 && pattern === undefined && hasFormat === undefined) {
      return always
    }
    return (value) => {
      const text = value as string
      // The number of code points is between half the number of UTF-16 units and that number.
      if (text.length > maxLength && codePointLength(text) > maxLength) return false
      if (minLength > 0 && (text.length < minLength || codePointLength(text) < minLength)) return false
      if (pattern === undefined && hasFormat === undefined) return true
      spendSteps(textSteps(text))
      return (pattern === undefined || pattern(text)) && (hasFormat === undefined || hasFormat(text))
    }
  }

  #array(schema: JSONSchemaProps): Check {
    const checks: Check[] = []
    const minItems = limit(schema.minItems)
    const maxItems = limit(schema.maxItems)
    if (minItems !== undefined) checks.push((value) => (value as unknown[]).length >= minItems)
    if (maxItems !== undefined) checks.push((value) => (value as unknown[]).length <= maxItems)
    if (schema.uniqueItems === true) checks.push((value) => isUnique(value as unknown[]))
    if (schema.items !== undefined && schema.items !== null) {
      const items = this.#slot(schema.items)
      checks.push((value) => {
        const list = value as unknown[]
        spendSteps(list.length)
        for (let i = 0; i < list.length; i++) if (!items.check(list[i])) return false
        return true
      })
    }
    return allOf(checks)
  }

  #object(schema: JSONSchemaProps): Check {
    const checks: Check[] = []
    const minProperties = limit(schema.minProperties)
    const maxProperties = limit(schema.maxProperties)
    if (minProperties !== undefined) checks.push((value) => countFields(value as JsonObject) >= minProperties)
    if (maxProperties !== undefined) checks.push((value) => countFields(value as JsonObject) <= maxProperties)
    const required = schema.required ?? []
    if (required.length > 0) {
      checks.push((value) => {
        for (let i = 0; i < required.length; i++)
          if ((value as JsonObject)[required[i] as string] === undefined) return false
        return true
      })
    }
    // Every object inherits properties with these names; only own ones count.
    const inherited = required.filter((name) => name in Object.prototype)
    if (inherited.length > 0) {
      checks.push((value) => inherited.every((name) => Object.hasOwn(value as JsonObject, name)))
    }
    const fields = this.#fields(schema)
    if (fields !== undefined) checks.push(fields)
    return allOf(checks)
  }

  /** Compiles the checks of properties and additional properties; undefined if every field is accepted. */
  #fields(schema: JSONSchemaProps): Check | undefined {
    const properties = Object.entries(schema.properties ?? {}).map(([name, json]) => this.#field(name, json))
    const additional = schema.additionalProperties
    const closed = additional === false
    const other =
      typeof additional === 'object' && additional !== null
        ? this.#field('', additional)
        : closed
          ? closedField
          : undefined
    if (properties.length === 0 && other === undefined) return undefined
    // Every object inherits properties with these names, so a look-up by name does not tell whether the object has them.
    const isInherited = properties.some(({ name }) => name in Object.prototype)
    return other === undefined && properties.length <= maxLookups && !isInherited
      ? checkByName(properties)
      : checkByField(properties, other)
  }

  #field(name: string, schema: JSONSchemaProps): Field {
    return { name, slot: this.#slot(schema), ...this.#shortcut(schema) }
  }

  /** The shortcut for a schema that constrains one scalar type with bounds only. */
  #shortcut(schema: JSONSchemaProps): Shortcut {
    const types = allowedTypes(schema, this.#mode)
    const { enum: allowed, anyOf, oneOf, allOf: all, not, pattern, multipleOf } = schema
    const isPlain =
      types.length === 1 &&
      effectiveFormat(schema, this.#mode) === '' &&
      !schema.nullable &&
      !(anyOf || oneOf || all || not || pattern || limit(multipleOf) !== undefined)
    if (!isPlain) return noShortcut
    if (types[0] === 'string' && allowed === undefined) {
      const most = limit(schema.maxLength) ?? Number.POSITIVE_INFINITY
      const least = limit(schema.minLength) ?? 0
      // A text has at least half as many code points as UTF-16 units.
      return { kind: 'text', low: least <= 0 ? 0 : 2 * least - 1, high: most }
    }
    if (allowed !== undefined) return noShortcut
    if (types[0] === 'boolean') return { kind: 'boolean', low: 0, high: 0 }
    if (types[0] === 'integer' && !schema.exclusiveMaximum && !schema.exclusiveMinimum) {
      const low = limit(schema.minimum) ?? Number.MIN_SAFE_INTEGER
      const high = limit(schema.maximum) ?? Number.MAX_SAFE_INTEGER
      // The exact check truncates bounds that are no integers.
      if (Number.isSafeInteger(low) && Number.isSafeInteger(high)) return { kind: 'integer', low, high }
    }
    return noShortcut
  }
}

/** The number of properties up to which a look-up of each is faster than an iteration over the fields of the object. */
const maxLookups = 16

/**
 * Accepts most valid values of a field without a call: a text with `low` to `high` UTF-16 units, an integer from `low` to `high`, or a
 * boolean. Values that it does not accept have to pass the check.
 */
interface Shortcut {
  readonly kind: 'text' | 'integer' | 'boolean' | 'none'
  readonly low: number
  readonly high: number
}

interface Field extends Shortcut {
  readonly name: string
  readonly slot: Slot
}

const noShortcut: Shortcut = { kind: 'none', low: 0, high: 0 }
const closedField: Field = { name: '', slot: { check: never }, ...noShortcut }

function takesShortcut({ kind, low, high }: Field, value: unknown): boolean {
  if (kind === 'text') return typeof value === 'string' && value.length >= low && value.length <= high
  if (kind === 'integer') return typeof value === 'number' && value >= low && value <= high && Number.isInteger(value)
  return kind === 'boolean' && typeof value === 'boolean'
}

/** Looks up each declared property. Other fields are not checked. */
function checkByName(fields: readonly Field[]): Check {
  return (value) => {
    const object = value as JsonObject
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!
      const found = object[field.name]
      if (found !== undefined && !takesShortcut(field, found) && !field.slot.check(found)) return false
    }
    return true
  }
}

/** Finds the property of each field. Fields that are not declared are checked by `other`, if given. */
function checkByField(properties: readonly Field[], other: Field | undefined): Check {
  const byName = new Map(properties.map((field) => [field.name, field]))
  return (value) => {
    const object = value as JsonObject
    for (const name in object) {
      const found = object[name]
      if (found === undefined) continue
      const field = byName.get(name) ?? other
      if (field !== undefined && !takesShortcut(field, found) && !field.slot.check(found)) return false
    }
    return true
  }
}

function allOf(checks: readonly Check[]): Check {
  const [first, second] = checks
  if (first === undefined) return always
  if (second === undefined) return first
  if (checks.length === 2) return (value) => first(value) && second(value)
  return (value) => {
    for (let i = 0; i < checks.length; i++) if (!(checks[i] as Check)(value)) return false
    return true
  }
}

function numberCheck(schema: JSONSchemaProps): Check {
  const maximum = limit(schema.maximum) ?? Number.POSITIVE_INFINITY
  const minimum = limit(schema.minimum) ?? Number.NEGATIVE_INFINITY
  const multipleOf = limit(schema.multipleOf)
  const unbounded = maximum === Number.POSITIVE_INFINITY && minimum === Number.NEGATIVE_INFINITY
  if (unbounded && multipleOf === undefined) return always
  const belowOnly = schema.exclusiveMaximum === true && maximum !== Number.POSITIVE_INFINITY
  const aboveOnly = schema.exclusiveMinimum === true && minimum !== Number.NEGATIVE_INFINITY
  // Integers are compared with bounds that are truncated to integers.
  const wholeMaximum = Number.isFinite(maximum) ? toInt64(maximum) : maximum
  const wholeMinimum = Number.isFinite(minimum) ? toInt64(minimum) : minimum
  return (value) => {
    const number = value as number
    const whole = isGoInteger(number)
    const high = whole ? wholeMaximum : maximum
    const low = whole ? wholeMinimum : minimum
    // The comparisons are not inverted, so that NaN, which is within no bounds, is rejected.
    if (!(belowOnly ? number < high : number <= high)) return false
    if (!(aboveOnly ? number > low : number >= low)) return false
    return multipleOf === undefined || isMultipleOf(number, multipleOf)
  }
}

/** Restricts a check to floats that count as integers. */
function integralOnly(check: Check): Check {
  return (value) => isJsonInteger(value as number) && check(value)
}

/** Returns the number of fields. Fields with the value `undefined` do not exist in JSON. */
export function countFields(object: JsonObject): number {
  let count = 0
  for (const name in object) if (object[name] !== undefined) count++
  return count
}

/** Reports whether all items are different. */
export function isUnique(list: readonly unknown[]): boolean {
  for (let i = 1; i < list.length; i++) {
    for (let j = 0; j < i; j++) if (deepEqual(list[i], list[j])) return false
  }
  return true
}
