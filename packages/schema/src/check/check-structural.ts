import { append, isSupportedFormat } from '@kubewright/base'
import { type FieldError, forbidden, invalid, RawValue } from '../field/field-error.ts'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { keywordsOf, singleItems, someSchema, structuralError } from '../model/schema-shape.ts'
import { StructuralNode } from '../model/structural-node.ts'
import { applyPrunedDefaults } from '../validate/prune-defaults.ts'
import { checkDefaults } from './defaults.ts'
import { schemaJson } from './go-schema-json.ts'
import { checkKeywords, checkMapListKeys } from './keywords.ts'
import { isNonAtomicSetItem } from './list-extensions.ts'
import { RuleScope } from './rules.ts'
import { checkStructurality } from './structurality.ts'

/** Facts about the CRD that contains the schema. */
export interface CheckStructuralOptions {
  /** The path of the schema, for errors. @default `openAPIV3Schema` */
  readonly path?: FieldPath | undefined
  /** Whether the version has the status subresource, which restricts the keywords at the root. @default false */
  readonly statusSubresource?: boolean | undefined
  /**
   * In an update, the schemas of the stored CRD. A requirement that one of them violates is not enforced for the new
   * schema either, so that old CRDs stay editable.
   */
  readonly stored?: readonly JSONSchemaProps[] | undefined
  /**
   * Whether the schema equals the stored one. If so, the cost limit of single expressions is not enforced. @default
   * false
   */
  readonly unchanged?: boolean | undefined
}

/**
 * Returns the errors that kube-apiserver reports for the `openAPIV3Schema` of a CRD, with its texts, types and paths:
 * unsupported keywords, structurality, defaults, list types, rules and their estimated cost. Empty if the schema is
 * valid.
 */
export function checkStructural(schema: JSONSchemaProps, options: CheckStructuralOptions = {}): FieldError[] {
  const path = options.path ?? FieldPath.of('openAPIV3Schema')
  const requirements = requirementsOf(options.stored ?? [])
  const errors: FieldError[] = []
  if (options.statusSubresource === true) checkRootKeywords(schema, path, errors)
  if (schema.nullable === true) errors.push(forbidden(path.child('nullable'), 'nullable cannot be true at the root'))
  const nonStructural = structuralError(schema)
  let scope: RuleScope | undefined
  if (nonStructural === undefined && requirements.structural) {
    const structural = checkStructurality(schema, path)
    const found =
      structural.length > 0 ? structural : checkDefaults(StructuralNode.of(schema), path, requirements.prunedDefaults)
    append(errors, found)
    // Rules are checked only in schemas that are otherwise valid.
    if (found.length === 0) scope = RuleScope.root(schema, options.unchanged ?? false)
  }
  const found = checkKeywords(schema, path, requirements, scope)
  append(errors, found.schema)
  append(errors, found.rules)
  // Most reasons why a schema cannot be converted are also reported per keyword; report the general error only if they
  // were not.
  if (errors.length === 0 && nonStructural !== undefined && requirements.structural)
    errors.push(invalid(path, '', nonStructural))
  scope?.checkTotalCost(path, errors)
  return errors
}

/**
 * Returns the string formats that kube-apiserver does not support and therefore ignores. It warns about each when a CRD
 * is written.
 */
export function unrecognizedFormats(schema: JSONSchemaProps): string[] {
  const formats: string[] = []
  someSchema(schema, ({ type, format }) => {
    if (type === 'string' && format !== undefined && format !== '' && !isSupportedFormat(format)) formats.push(format)
    return false
  })
  return formats
}

interface Requirements {
  readonly structural: boolean
  readonly prunedDefaults: boolean
  readonly requireValidTypes: boolean
  readonly requireAtomicSets: boolean
  readonly requireMapListKeys: boolean
}

function requirementsOf(stored: readonly JSONSchemaProps[]): Requirements {
  const anywhere = (holds: (schema: JSONSchemaProps) => boolean): boolean =>
    stored.some((schema) => someSchema(schema, holds))
  return {
    structural: !stored.some((schema) => structuralError(schema) !== undefined || !isStructural(schema)),
    prunedDefaults: !stored.some(hasUnprunedDefaults),
    requireValidTypes: !anywhere((schema) => !TYPES.has(schema.type ?? '')),
    requireAtomicSets: !anywhere(hasNonAtomicSet),
    requireMapListKeys: !anywhere((schema) => checkMapListKeys(schema, FieldPath.none).length > 0),
  }
}

const TYPES: ReadonlySet<string> = new Set(['', 'array', 'boolean', 'integer', 'number', 'object', 'string'])

function isStructural(schema: JSONSchemaProps): boolean {
  return checkStructurality(schema, FieldPath.none).length === 0
}

function hasUnprunedDefaults(schema: JSONSchemaProps): boolean {
  if (structuralError(schema) !== undefined || !isStructural(schema)) return false
  return applyPrunedDefaults(schema) !== schema
}

function hasNonAtomicSet(schema: JSONSchemaProps): boolean {
  const items = singleItems(schema)
  return schema['x-kubernetes-list-type'] === 'set' && items !== undefined && isNonAtomicSetItem(items)
}

/** The keywords allowed at the root if the status subresource is enabled, with the Go names used in the error. */
const ALLOWED_AT_ROOT: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
])

/** With the status subresource, status is validated separately, so keywords at the root must not constrain it. */
function checkRootKeywords(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const type = schema.type ?? ''
  const keywords = keywordsOf(schema)
  // Only the first error is reported, and these keywords are checked before the type.
  const early = keywords.some((keyword) => keyword === 'id' || keyword === '$schema' || keyword === '$ref')
  if (!early && type !== '' && type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    errors.push(invalid(path.child('type'), type, detail))
    return
  }
  if (keywords.every((keyword) => ALLOWED_AT_ROOT.has(keyword))) return
  const allowed = [...ALLOWED_AT_ROOT.values()].join(' ')
  const detail = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`
  errors.push(invalid(path, new RawValue(schemaJson(schema)), detail))
}
