import { compareUtf8 } from '@kubewright/base'
import { type FieldError, forbidden, invalid, required } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { spendPattern } from '../field/validation-steps.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { additionalSchema, hasAdditional, keywordsOf, propertyOf, singleItems } from '../model/schema-shape.ts'
import { compilePattern } from '../validate/value-rules.ts'

type Level = 'root' | 'item' | 'field'

/**
 * Checks that a schema is structural: each value has exactly one type, junctors only restrict values, and every field
 * mentioned in a junctor is also specified outside of it. Errors are sorted by text, as in
 * apiextensions-apiserver/pkg/apiserver/schema/validation.go.
 */
export function checkStructurality(schema: JSONSchemaProps, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  checkInvariants(schema, 'root', path, errors)
  checkJunctorCompleteness(schema, schema, path, path, errors)
  return errors
    .map((error) => [error.toString(), error] as const)
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([, error]) => error)
}

/**
 * Checks the rules for a schema and, recursively, for the schemas of its items, properties and additional properties.
 */
function checkInvariants(schema: JSONSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const items = singleItems(schema)
  if (schema.type === 'array' && items === undefined) errors.push(required(path.child('items'), 'must be specified'))
  if (items !== undefined) checkInvariants(items, 'item', path.child('items'), errors)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    checkInvariants(property, 'field', path.child('properties').key(name), errors)
  }
  const additional = additionalSchema(schema)
  if (level === 'root' && hasAdditional(schema)) {
    errors.push(forbidden(path.child('additionalProperties'), 'must not be used at the root'))
  }
  if (additional !== undefined) checkInvariants(additional, 'field', path.child('additionalProperties'), errors)
  checkExtensions(schema, path, errors)
  checkValueValidation(schema, isIntOrString(schema.anyOf), isIntOrString(schema.allOf?.[0]?.anyOf), path, errors)
  checkTypeIsGiven(schema, level, path, errors)
  checkMetaProperties(schema, level, path, errors)
}

function checkExtensions(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return
  for (const extension of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[extension] !== true) continue
    errors.push(invalid(path.child(extension), true, 'must be false if x-kubernetes-int-or-string is true'))
  }
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function checkTypeIsGiven(schema: JSONSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const type = schema.type ?? ''
  const at = path.child('type')
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(at, detail) : invalid(at, type, detail))
  } else if (
    type === '' &&
    schema['x-kubernetes-int-or-string'] !== true &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  ) {
    errors.push(required(at, EMPTY_TYPE[level]))
  }
  if (schema['x-kubernetes-embedded-resource'] === true && hasAdditional(schema)) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbidden(path.child('additionalProperties'), detail))
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(at, type, 'must be object at the root'))
}

/** Checks how resources may restrict apiVersion, kind and metadata. At the root, only names may be restricted. */
function checkMetaProperties(schema: JSONSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const isResource = level === 'root' || embedded
  const at = path.child('properties')
  for (const name of ['kind', 'apiVersion']) {
    const property = propertyOf(schema, name)
    if (!isResource || property === undefined || property.type === 'string') continue
    errors.push(invalid(at.key(name).child('type'), property.type ?? '', 'must be string'))
  }
  const metadata = propertyOf(schema, 'metadata')
  if (metadata !== undefined) {
    if (isResource && metadata.type !== 'object') {
      errors.push(invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object'))
    }
    if (level === 'root' && !restrictsNamesOnly(metadata)) {
      const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
      errors.push(forbidden(at.key('metadata'), detail))
    }
  }
  if (
    embedded &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true &&
    Object.keys(schema.properties ?? {}).length === 0
  ) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(at, detail))
  }
}

function restrictsNamesOnly(metadata: JSONSchemaProps): boolean {
  const named = Object.keys(metadata.properties ?? {}).every((name) => name === 'name' || name === 'generateName')
  // Another check reports defaults there.
  const allowed = new Set(named ? ['type', 'default', 'properties'] : ['type', 'default'])
  return keywordsOf(metadata).every((keyword) => allowed.has(keyword))
}

/** Reports whether this is `[{ type: integer }, { type: string }]`, the only structural use of types in junctors. */
function isIntOrString(anyOf: readonly JSONSchemaProps[] | undefined): boolean {
  const isOnlyType = (schema: JSONSchemaProps | undefined, type: string): boolean =>
    schema?.type === type && keywordsOf(schema).length === 1
  return anyOf?.length === 2 && isOnlyType(anyOf[0], 'integer') && isOnlyType(anyOf[1], 'string')
}

/** Checks the junctors of a schema. The flags exempt the two positions in which int-or-string may state its types. */
function checkValueValidation(
  schema: JSONSchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOfAnyOf: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!skipAnyOf) {
    schema.anyOf?.forEach((branch, i) => {
      checkNested(branch, false, path.child('anyOf').index(i), errors)
    })
  }
  schema.allOf?.forEach((branch, i) => {
    checkNested(branch, skipFirstAllOfAnyOf && i === 0, path.child('allOf').index(i), errors)
  })
  schema.oneOf?.forEach((branch, i) => {
    checkNested(branch, false, path.child('oneOf').index(i), errors)
  })
  if (schema.not !== undefined && schema.not !== null) checkNested(schema.not, false, path.child('not'), errors)
  if (schema.pattern !== undefined && schema.pattern !== '') {
    spendPattern(schema.pattern)
    const { error } = compilePattern(schema.pattern)
    if (error === undefined) return
    const detail = `must be a valid regular expression, but isn't: ${error}`
    errors.push(invalid(path.child('pattern'), schema.pattern, detail))
  }
}

const EMPTY = 'must be empty to be structural'
const UNDEFINED = 'must be undefined to be structural'
const FALSE = 'must be false to be structural'

/** The keywords that a junctor branch must not set, with the error texts. */
const FORBIDDEN_IN_BRANCHES: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ['type', EMPTY],
  ['default', UNDEFINED],
  ['title', EMPTY],
  ['description', EMPTY],
  ['nullable', FALSE],
  ['x-kubernetes-preserve-unknown-fields', FALSE],
  ['x-kubernetes-embedded-resource', FALSE],
  ['x-kubernetes-int-or-string', FALSE],
  ['x-kubernetes-list-map-keys', EMPTY],
  ['x-kubernetes-list-type', UNDEFINED],
  ['x-kubernetes-map-type', UNDEFINED],
  ['x-kubernetes-validations', EMPTY],
]

/** Checks a branch of a junctor, and everything in it, for keywords that are only allowed outside of junctors. */
function checkNested(branch: JSONSchemaProps, skipAnyOf: boolean, path: FieldPath, errors: FieldError[]): void {
  checkValueValidation(branch, skipAnyOf, false, path, errors)
  const items = singleItems(branch)
  if (items !== undefined) checkNested(items, false, path.child('items'), errors)
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    checkNested(property, false, path.child('properties').key(name), errors)
  }
  const present = new Set(keywordsOf(branch))
  for (const [keyword, detail] of FORBIDDEN_IN_BRANCHES) {
    if (present.has(keyword)) errors.push(forbidden(path.child(keyword), detail))
  }
  if (hasAdditional(branch) && branch.additionalProperties !== false) {
    errors.push(forbidden(path.child('additionalProperties'), UNDEFINED))
  }
  // A restriction of metadata inside a junctor would be indistinguishable from one of the complete metadata.
  if (propertyOf(branch, 'metadata') !== undefined) {
    errors.push(forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'))
  }
}

function checkJunctorCompleteness(
  values: JSONSchemaProps,
  spine: JSONSchemaProps,
  spinePath: FieldPath,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (values.not !== undefined && values.not !== null)
    checkCompleteness(values.not, spine, spinePath, path.child('not'), errors)
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) {
    values[junctor]?.forEach((branch, i) => {
      checkCompleteness(branch, spine, spinePath, path.child(junctor).index(i), errors)
    })
  }
}

/** Checks that every field and item in a branch is also specified outside of the junctors (on the spine). */
function checkCompleteness(
  branch: JSONSchemaProps,
  spine: JSONSchemaProps | undefined,
  spinePath: FieldPath,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (spine === undefined) {
    errors.push(required(spinePath, `because it is defined in ${path}`))
    return
  }
  checkJunctorCompleteness(branch, spine, spinePath, path, errors)
  const items = singleItems(branch)
  if (items !== undefined) {
    checkCompleteness(items, singleItems(spine), spinePath.child('items'), path.child('items'), errors)
  }
  for (const [name, property] of Object.entries(branch.properties ?? {})) {
    const known = propertyOf(spine, name)
    const at = path.child('properties').key(name)
    checkCompleteness(property, known, spinePath.child('properties').key(name), at, errors)
  }
}
