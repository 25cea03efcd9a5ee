import { codePointLength, formatCheck, goQuote } from '@kubewright/base'
import { goFloat, goNumber, goValue, isGoInteger } from '../field/go-format.ts'
import { spendSteps, textSteps } from '../field/validation-steps.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import type { JsonObject } from '../model/structural-node.ts'
import type { Correlation } from './correlation.ts'
import { countFields, isUnique } from './fast-check.ts'
import { type Problem, ValidationResult } from './problem.ts'
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
  valueType,
  withinMaximum,
  withinMinimum,
} from './value-rules.ts'

/** The steps of validating one value with one schema: the validators that run, and their results. */
const nodeSteps = 4

/**
 * Validates a value keyword by keyword. Errors have the texts and the order of kube-openapi; match counts rank junctor
 * branches.
 *
 * Called only after a fast check has failed, so it favours fidelity over speed. With a correlation, errors of unchanged
 * values are dropped (ratcheting). As in kube-openapi, junctor branches do not ratchet on their own.
 */
export function validateExactly(
  schema: JSONSchemaProps,
  value: unknown,
  name: string,
  mode: ValidationMode,
  correlation?: Correlation,
): ValidationResult {
  const result = validateNode(schema, value, name, mode, correlation)
  if (correlation !== undefined && !result.valid && correlation.unchanged()) {
    const ratcheted = new ValidationResult()
    ratcheted.matchCount = result.matchCount
    return ratcheted
  }
  return result
}

/**
 * Runs the validators of one schema in the order of kube-openapi. `matchCount` is incremented exactly where
 * kube-openapi does, once per validator that ran: the count selects the branch of anyOf and oneOf whose errors are
 * reported.
 */
function validateNode(
  schema: JSONSchemaProps,
  value: unknown,
  name: string,
  mode: ValidationMode,
  correlation: Correlation | undefined,
): ValidationResult {
  spendSteps(nodeSteps)
  const result = new ValidationResult()
  const type = valueType(value)
  const types = allowedTypes(schema, mode)
  const format = effectiveFormat(schema, mode)
  if (type === 'null') {
    checkNull(schema, types, name, result)
    checkEnum(schema, null, name, result)
    return result
  }
  if (types.length > 0 || format !== '') {
    checkType(types, format, value, type, name, result)
    result.matchCount++
  }
  checkJunctors(schema, value, name, mode, result)
  result.matchCount++
  if (type === 'string') {
    checkString(schema, value as string, name, result)
    result.matchCount++
    const hasFormat = formatCheck(format)
    if (hasFormat !== undefined) {
      if (!hasFormat(value as string)) result.add(typeProblem(name, format, value as string))
      result.matchCount++
    }
  } else if (type === 'integer' || type === 'number') {
    checkNumber(schema, value as number | bigint, name, result)
    result.matchCount += 2
  } else if (type === 'array') {
    checkArray(schema, value as unknown[], name, mode, correlation, result)
    result.matchCount += 2
  }
  checkEnum(schema, value, name, result)
  result.matchCount++
  if (type === 'object') {
    checkObject(schema, value as JsonObject, name, mode, correlation, result)
    result.matchCount++
  }
  result.matchCount++
  return result
}

function typeProblem(name: string, expected: string, actual: string): Problem {
  return {
    kind: 'type',
    name,
    message: `${name} in body must be of type ${expected}: ${goQuote(actual)}`,
    value: actual,
  }
}

function invalidProblem(name: string, detail: string, value?: unknown): Problem {
  return { kind: 'invalid', name, message: `${name} in body ${detail}`, value }
}

function composite(message: string): Problem {
  return { kind: 'composite', name: '', message }
}

function checkNull(schema: JSONSchemaProps, types: readonly string[], name: string, result: ValidationResult): void {
  if (types.length > 0 && schema.nullable !== true) result.add(typeProblem(name, types.join(','), 'null'))
  else result.matchCount++
}

/**
 * Checks the type. As in kube-openapi, a string or list passes the check of any non-numeric type if the schema has a
 * format, and for any other value of the wrong type the error names the format instead of the type.
 */
function checkType(
  types: readonly string[],
  format: string,
  value: unknown,
  type: string,
  name: string,
  result: ValidationResult,
): void {
  const isFloatInt = type === 'number' && isJsonInteger(value as number) && types.includes('integer')
  const isIntFloat = type === 'integer' && types.includes('number')
  const fits = types.includes(type) || isFloatInt || isIntFloat
  const textual = type === 'string' || type === 'array'
  const goFormat = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : ''
  if (!textual && format !== '' && !fits && goFormat !== format) {
    result.add(typeProblem(name, format, goFormat))
  } else if (textual && format !== '' && !types.includes('number') && !types.includes('integer')) {
    result.matchCount++
  } else if (!fits) {
    result.add(typeProblem(name, types.join(','), type))
  } else {
    result.matchCount++
  }
}

const valueTexts = new WeakMap<readonly unknown[], string>()

/** The values of an enum as Go prints them. Created once for each enum, because every item of a list may violate it. */
function textOfValues(values: readonly unknown[]): string {
  const text = valueTexts.get(values) ?? goValue(values)
  valueTexts.set(values, text)
  return text
}

function checkEnum(schema: JSONSchemaProps, value: unknown, name: string, result: ValidationResult): void {
  const values = schema.enum ?? []
  if (values.length === 0 || inEnum(value, values)) return
  result.add({ kind: 'enum', name, message: `${name} in body should be one of ${textOfValues(values)}`, value, values })
}

/** Checks the junctors. Branches are validated without a correlation, because they do not ratchet. */
function checkJunctors(
  schema: JSONSchemaProps,
  value: unknown,
  name: string,
  mode: ValidationMode,
  result: ValidationResult,
): void {
  const inner = new ValidationResult()
  const validate = (branch: JSONSchemaProps): ValidationResult => validateNode(branch, value, name, mode, undefined)
  const { anyOf, oneOf, allOf } = schema
  if (hasBranches(anyOf)) checkAnyOf(anyOf.map(validate), name, inner)
  if (hasBranches(oneOf)) checkOneOf(oneOf.map(validate), name, inner)
  if (hasBranches(allOf)) checkAllOf(allOf.map(validate), name, inner)
  if (schema.not !== undefined && schema.not !== null && validate(schema.not).valid) {
    inner.add(composite(`${goQuote(name)} must not validate the schema (not)`))
  }
  inner.matchCount++
  result.merge(inner)
}

function hasBranches(branches: readonly JSONSchemaProps[] | null | undefined): branches is readonly JSONSchemaProps[] {
  return branches !== undefined && branches !== null && branches.length > 0
}

/** Returns the failed branch with the highest match count, the first one among equals. */
function bestOf(failures: readonly ValidationResult[]): ValidationResult | undefined {
  let best: ValidationResult | undefined
  for (const failure of failures) if (best === undefined || failure.matchCount > best.matchCount) best = failure
  return best
}

function checkAnyOf(branches: readonly ValidationResult[], name: string, result: ValidationResult): void {
  const success = branches.find((branch) => branch.valid)
  if (success === undefined) result.add(composite(`${goQuote(name)} must validate at least one schema (anyOf)`))
  const chosen = success ?? bestOf(branches)
  if (chosen !== undefined) result.merge(chosen)
}

function checkOneOf(branches: readonly ValidationResult[], name: string, result: ValidationResult): void {
  const valid = branches.filter((branch) => branch.valid)
  if (valid.length === 1) {
    result.merge(valid[0] as ValidationResult)
    return
  }
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
  result.add(composite(`${goQuote(name)} must validate one and only one schema (oneOf). ${found}`))
  const best = valid.length === 0 ? bestOf(branches) : undefined
  if (best !== undefined) result.merge(best)
}

function checkAllOf(branches: readonly ValidationResult[], name: string, result: ValidationResult): void {
  for (const branch of branches) result.merge(branch)
  const valid = branches.filter((branch) => branch.valid).length
  if (valid === branches.length) return
  result.add(
    composite(`${goQuote(name)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`),
  )
}

function checkString(schema: JSONSchemaProps, value: string, name: string, result: ValidationResult): void {
  const maxLength = limit(schema.maxLength)
  const minLength = limit(schema.minLength)
  // Only the first of these errors is reported.
  if (maxLength !== undefined && codePointLength(value) > maxLength) {
    const message = `${name} in body should be at most ${maxLength} chars long`
    result.add({ kind: 'tooLong', name, message, value, limit: maxLength })
  } else if (minLength !== undefined && codePointLength(value) < minLength) {
    result.add(invalidProblem(name, `should be at least ${minLength} chars long`, value))
  } else if (schema.pattern !== undefined && schema.pattern !== '') {
    spendSteps(textSteps(value))
    const pattern = compilePattern(schema.pattern)
    if (pattern.error !== undefined) {
      result.add(
        invalidProblem(name, `should match '${schema.pattern}, but pattern is invalid: ${pattern.error}'`, value),
      )
    } else if (!pattern.matches(value)) {
      result.add(invalidProblem(name, `should match '${schema.pattern}'`, value))
    }
  }
}

/** Checks bounds. Integers are compared with bounds truncated to integers, which the texts then contain. */
function checkNumber(schema: JSONSchemaProps, given: number | bigint, name: string, result: ValidationResult): void {
  const value = Number(given)
  const integral = isGoInteger(value)
  const shown = (bound: number): string => (integral ? goNumber(toInt64(bound)) : goFloat(bound))
  const multipleOf = limit(schema.multipleOf)
  if (multipleOf !== undefined && !isMultipleOf(value, multipleOf)) {
    const factor = integral ? toInt64(multipleOf) : multipleOf
    if (factor <= 0) {
      const message = `factor MultipleOf declared for ${name} must be positive: ${shown(multipleOf)}`
      result.add({ kind: 'invalid', name, message, value: factor })
    } else {
      result.add(invalidProblem(name, `should be a multiple of ${shown(multipleOf)}`, given))
    }
  }
  const minimum = limit(schema.minimum)
  const aboveOnly = schema.exclusiveMinimum === true
  if (minimum !== undefined && !withinMinimum(value, minimum, aboveOnly)) {
    result.add(
      invalidProblem(name, `should be greater than ${aboveOnly ? '' : 'or equal to '}${shown(minimum)}`, given),
    )
  }
  const maximum = limit(schema.maximum)
  const belowOnly = schema.exclusiveMaximum === true
  if (maximum !== undefined && !withinMaximum(value, maximum, belowOnly)) {
    result.add(invalidProblem(name, `should be less than ${belowOnly ? '' : 'or equal to '}${shown(maximum)}`, given))
  }
}

function checkArray(
  schema: JSONSchemaProps,
  list: readonly unknown[],
  name: string,
  mode: ValidationMode,
  correlation: Correlation | undefined,
  result: ValidationResult,
): void {
  const items = schema.items
  if (items !== undefined && items !== null) {
    for (let i = 0; i < list.length && !result.full; i++) {
      result.merge(validateExactly(items, list[i], `${name}[${i}]`, mode, correlation?.index(i)))
    }
  }
  const minItems = limit(schema.minItems)
  const maxItems = limit(schema.maxItems)
  if (minItems !== undefined && list.length < minItems) {
    result.add(invalidProblem(name, `should have at least ${minItems} items`, list.length))
  }
  if (maxItems !== undefined && list.length > maxItems) {
    const message = `${name} in body should have at most ${maxItems} items`
    result.add({ kind: 'tooMany', name, message, value: list.length, limit: maxItems })
  }
  if (schema.uniqueItems === true && !isUnique(list)) result.add(invalidProblem(name, "shouldn't contain duplicates"))
}

/**
 * Checks an object. The order determines the order of errors: sizes, additional properties, properties, required
 * fields.
 */
function checkObject(
  schema: JSONSchemaProps,
  object: JsonObject,
  name: string,
  mode: ValidationMode,
  correlation: Correlation | undefined,
  result: ValidationResult,
): void {
  const size = countFields(object)
  const minProperties = limit(schema.minProperties)
  const maxProperties = limit(schema.maxProperties)
  if (minProperties !== undefined && size < minProperties) {
    result.add(invalidProblem(name, `should have at least ${minProperties} properties`, size))
  }
  if (maxProperties !== undefined && size > maxProperties) {
    const message = `${name} in body should have at most ${maxProperties} properties`
    result.add({ kind: 'tooMany', name, message, value: size, limit: maxProperties })
  }
  const properties = schema.properties ?? {}
  const additional = schema.additionalProperties
  for (const key of Object.keys(object)) {
    if (result.full) break
    if (object[key] === undefined || Object.hasOwn(properties, key)) continue
    if (additional === false) {
      const message = `${name}.${key} in body is a forbidden property`
      result.add({ kind: 'invalid', name, message, value: key })
    } else if (typeof additional === 'object' && additional !== null) {
      result.merge(validateExactly(additional, object[key], `${name}.${key}`, mode, child(correlation, name, key)))
    }
  }
  for (const key of Object.keys(properties)) {
    if (!Object.hasOwn(object, key) || object[key] === undefined) continue
    const property = properties[key] as JSONSchemaProps
    const childName = name === '' ? key : `${name}.${key}`
    result.merge(validateExactly(property, object[key], childName, mode, child(correlation, name, key)))
  }
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(object, key) && object[key] !== undefined) continue
    result.add({ kind: 'required', name: `${name}.${key}`, message: `${name}.${key} in body is required` })
  }
}

/**
 * Type metadata at the root does not ratchet: both values are converted to the same version, so a change would go
 * unnoticed.
 */
function child(correlation: Correlation | undefined, name: string, key: string): Correlation | undefined {
  if (name === '' && (key === 'kind' || key === 'apiVersion')) return undefined
  return correlation?.key(key)
}
