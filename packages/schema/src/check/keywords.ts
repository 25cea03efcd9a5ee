import { append } from '@kubewright/base'
import { type FieldError, forbidden, invalid, notSupported, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { SCHEMA_STEPS, spendSteps } from '../field/validation-steps.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { additionalSchema, hasAdditional, itemsList, propertyOf, singleItems } from '../model/schema-shape.ts'
import { checkListExtensions, checkMapExtension } from './list-extensions.ts'
import { checkRuleTexts } from './rule-texts.ts'
import type { RuleScope } from './rules.ts'

/** Selects the checks. Each is disabled for CRDs that were stored before the check existed. */
export interface KeywordOptions {
  readonly requireValidTypes: boolean
  readonly requireAtomicSets: boolean
  readonly requireMapListKeys: boolean
}

/** Properties that a schema inherits from its position in the CRD schema. */
interface Place {
  readonly isRoot: boolean
  /** The reason why defaults are forbidden here, or `undefined` if they are allowed. */
  readonly noDefaults: string | undefined
  readonly insideMeta: boolean
  /** The nearest enclosing list or map whose elements cannot be correlated with their old values. */
  readonly uncorrelatable: FieldPath | undefined
}

/**
 * The errors of a schema. Errors in rules are separate, because rules are checked only if the schema below is valid.
 */
export class KeywordErrors {
  readonly schema: FieldError[] = []
  readonly rules: FieldError[] = []

  append(other: KeywordErrors): void {
    append(this.schema, other.schema)
    append(this.rules, other.rules)
  }
}

const ROOT: Place = { isRoot: true, noDefaults: undefined, insideMeta: false, uncorrelatable: undefined }

/**
 * Checks that Kubernetes supports every keyword of a CRD schema. With a scope, also checks the rules.
 *
 * As in apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go.
 */
export function checkKeywords(
  schema: JSONSchemaProps,
  path: FieldPath,
  options: KeywordOptions,
  scope: RuleScope | undefined,
): KeywordErrors {
  return new KeywordChecker(options).check(schema, path, ROOT, scope)
}

class KeywordChecker {
  readonly #options: KeywordOptions

  constructor(options: KeywordOptions) {
    this.#options = options
  }

  check(schema: JSONSchemaProps, path: FieldPath, place: Place, scope: RuleScope | undefined): KeywordErrors {
    spendSteps(SCHEMA_STEPS)
    const errors = new KeywordErrors()
    this.#checkSupport(schema, path, place, errors.schema)
    if (schema.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
      errors.schema.push(forbidden(path.child('uniqueItems'), detail))
    }
    const inside: Place = { ...place, isRoot: false }
    this.#checkAdditional(schema, path, inside, scope, errors)
    this.#checkProperties(schema, path, place, scope, errors)
    this.#checkBranches(schema, path, inside, errors)
    this.#checkItems(schema, path, inside, scope, errors)
    this.#checkExtensions(schema, path, errors.schema)
    checkRuleTexts(schema, path, errors.schema)
    if (errors.schema.length === 0 && (schema['x-kubernetes-validations'] ?? []).length > 0) {
      scope?.checkRules(path, place.uncorrelatable, errors.rules)
    }
    return errors
  }

  /** Reports keywords that are unsupported everywhere, or at this position. */
  #checkSupport(schema: JSONSchemaProps, path: FieldPath, place: Place, errors: FieldError[]): void {
    const type = schema.type ?? ''
    if (this.#options.requireValidTypes && type !== '' && !TYPES.includes(type)) {
      errors.push(notSupported(path.child('type'), type, TYPES))
    }
    if (schema.default !== undefined && schema.default !== null && place.noDefaults !== undefined) {
      errors.push(forbidden(path.child('default'), `must not be set ${place.noDefaults}`))
    }
    const unsupported = (keyword: string): void => {
      errors.push(forbidden(path.child(keyword), `${keyword} is not supported`))
    }
    if (schema.id) unsupported('id')
    if (schema.additionalItems !== undefined && schema.additionalItems !== null) unsupported('additionalItems')
    if (Object.keys(schema.patternProperties ?? {}).length > 0) unsupported('patternProperties')
    if (Object.keys(schema.definitions ?? {}).length > 0) unsupported('definitions')
    if (schema.dependencies !== undefined && schema.dependencies !== null) unsupported('dependencies')
    if (schema.$ref !== undefined && schema.$ref !== null) unsupported('$ref')
    if (type === 'null') {
      errors.push(forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'))
    }
    if (itemsList(schema).length > 0) {
      errors.push(forbidden(path.child('items'), 'items must be a schema object and not an array'))
    }
    if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true) {
      errors.push(forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'))
    }
  }

  #checkAdditional(
    schema: JSONSchemaProps,
    path: FieldPath,
    inside: Place,
    scope: RuleScope | undefined,
    errors: KeywordErrors,
  ): void {
    if (!hasAdditional(schema)) return
    const at = path.child('additionalProperties')
    // properties describe structs, additionalProperties describe maps. `true` beside properties has no effect.
    if (Object.keys(schema.properties ?? {}).length > 0 && schema.additionalProperties !== true) {
      errors.schema.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'))
    }
    const additional = additionalSchema(schema)
    if (additional === undefined) return
    const noDefaults = inside.insideMeta ? 'inside additionalProperties applying to object metadata' : inside.noDefaults
    errors.append(this.check(additional, at, { ...inside, noDefaults }, scope?.additional(additional)))
  }

  #checkProperties(
    schema: JSONSchemaProps,
    path: FieldPath,
    place: Place,
    scope: RuleScope | undefined,
    errors: KeywordErrors,
  ): void {
    const mapType = schema['x-kubernetes-map-type']
    const correlatable = mapType === undefined || mapType === null || mapType === 'granular' || mapType === 'atomic'
    const isResource = place.isRoot || schema['x-kubernetes-embedded-resource'] === true
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const isMeta = isResource && (name === 'metadata' || name === 'kind' || name === 'apiVersion')
      const child: Place = {
        isRoot: false,
        noDefaults: isMeta && place.isRoot ? `in top-level ${name}` : place.noDefaults,
        insideMeta: place.insideMeta || isMeta,
        uncorrelatable: place.uncorrelatable ?? (correlatable ? undefined : path),
      }
      errors.append(this.check(property, path.child('properties').key(name), child, scope?.property(property, name)))
    }
  }

  /** Checks the branches of junctors. They have no rules, so no scope is passed on. */
  #checkBranches(schema: JSONSchemaProps, path: FieldPath, inside: Place, errors: KeywordErrors): void {
    const check = (branch: JSONSchemaProps, at: FieldPath): void =>
      errors.append(this.check(branch, at, inside, undefined))
    if (schema.not !== undefined && schema.not !== null) check(schema.not, path.child('not'))
    for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
      schema[junctor]?.forEach((branch, i) => {
        check(branch, path.child(junctor).index(i))
      })
    }
    for (const [name, definition] of Object.entries(schema.definitions ?? {})) {
      check(definition, path.child('definitions').key(name))
    }
    for (const [name, dependency] of Object.entries(schema.dependencies ?? {})) {
      // The other form, a list of names, contains no schema.
      if (!Array.isArray(dependency)) check(dependency as JSONSchemaProps, path.child('dependencies').key(name))
    }
  }

  #checkItems(
    schema: JSONSchemaProps,
    path: FieldPath,
    inside: Place,
    scope: RuleScope | undefined,
    errors: KeywordErrors,
  ): void {
    // Only the items of lists of type map can be correlated with old items.
    const uncorrelatable = inside.uncorrelatable ?? (schema['x-kubernetes-list-type'] === 'map' ? undefined : path)
    const place: Place = { ...inside, uncorrelatable }
    const items = singleItems(schema)
    if (items !== undefined) errors.append(this.check(items, path.child('items'), place, scope?.items(items)))
    itemsList(schema).forEach((each, i) => {
      errors.append(this.check(each, path.child('items').index(i), place, scope?.items(each)))
    })
  }

  #checkExtensions(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
    if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
      errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
    }
    checkMapExtension(schema, path, errors)
    checkListExtensions(schema, path, this.#options.requireAtomicSets, errors)
    if (this.#options.requireMapListKeys) append(errors, checkMapListKeys(schema, path))
  }
}

const TYPES: readonly string[] = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Items of sets and map lists must not be nullable, and the keys of map lists must be required or have a default. */
export function checkMapListKeys(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const items = singleItems(schema)
  const listType = schema['x-kubernetes-list-type']
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return errors
  const at = path.child('items')
  if (items.nullable === true) {
    errors.push(forbidden(at.child('nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  if (listType === 'set') return errors
  const requiredFields = new Set(items.required)
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = propertyOf(items, key)
    if (property === undefined) continue
    const keyPath = at.child('properties').key(key)
    const hasDefault = property.default !== undefined && property.default !== null
    if (!requiredFields.has(key) && !hasDefault) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
      errors.push(required(keyPath.child('default'), detail))
    }
    if (property.nullable === true) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
      errors.push(forbidden(keyPath.child('nullable'), detail))
    }
  }
  return errors
}
