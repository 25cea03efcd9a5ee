import { isSupportedFormat } from '@kubewright/base'
import { checkDefaults } from './check/defaults.ts'
import { schemaJson } from './check/go-schema-json.ts'
import { checkKeywords, checkMapListKeys } from './check/keywords.ts'
import { isNonAtomicSetItem } from './check/list-extensions.ts'
import { RuleScope } from './check/rules.ts'
import { keywordsOf, singleItems, someSchema, structuralError } from './check/schema-shape.ts'
import { checkStructurality } from './check/structurality.ts'
import { type FieldError, forbidden, invalid, RawValue } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { applyPrunedDefaults } from './internal/prune-defaults.ts'
import { StructuralNode } from './internal/structural-node.ts'
import type { JSONSchemaProps } from './json-schema.ts'

/** What {@link checkStructural} should know about the CRD around the schema. */
export interface CheckStructuralOptions {
  /** Where the schema is. @default `openAPIV3Schema` */
  readonly path?: FieldPath
  /** Whether the version has the status subresource, which limits the keywords at the root. @default false */
  readonly statusSubresource?: boolean
  /**
   * The schemas of the CRD as it is stored, in an update: requirements that one of them does not meet are not made of the new schema
   * either, so that old CRDs stay editable.
   */
  readonly stored?: readonly JSONSchemaProps[]
  /** Whether the schema is the same as the stored one; then the cost of single expressions is not held against it. @default false */
  readonly unchanged?: boolean
}

/**
 * Everything that kube-apiserver finds wrong with the `openAPIV3Schema` of a CRD, with its texts, types and paths: support of
 * keywords, structurality, validity of defaults, list types, rules and their estimated cost. Empty if the schema is accepted.
 */
export function checkStructural(schema: JSONSchemaProps, options: CheckStructuralOptions = {}): FieldError[] {
  const path = options.path ?? FieldPath.of('openAPIV3Schema')
  const requirements = requirementsOf(options.stored ?? [])
  const errors: FieldError[] = []
  if (options.statusSubresource === true) checkRootKeywords(schema, path, errors)
  if (schema.nullable === true) errors.push(forbidden(path.child('nullable'), 'nullable cannot be true at the root'))
  const unreadable = structuralError(schema)
  let scope: RuleScope | undefined
  if (unreadable === undefined && requirements.structural) {
    const structural = checkStructurality(schema, path)
    const found =
      structural.length > 0 ? structural : checkDefaults(StructuralNode.of(schema), path, requirements.prunedDefaults)
    errors.push(...found)
    // Rules are looked at only in schemas that are otherwise in order.
    if (found.length === 0) scope = RuleScope.root(schema, options.unchanged ?? false)
  }
  const found = checkKeywords(schema, path, requirements, scope)
  errors.push(...found.schema, ...found.rules)
  // What cannot be read is mostly reported keyword by keyword; say it in general only if it was not.
  if (errors.length === 0 && unreadable !== undefined && requirements.structural)
    errors.push(invalid(path, '', unreadable))
  scope?.checkTotalCost(path, errors)
  return errors
}

/** The formats of strings that kube-apiserver does not know and therefore ignores; it warns of each when a CRD is written. */
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

/** The keywords allowed at the root beside the status subresource, by the Go names under which the error lists them. */
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

/** With the status subresource, status is validated on its own, so nothing at the root may say more about it. */
function checkRootKeywords(schema: JSONSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const type = schema.type ?? ''
  const keywords = keywordsOf(schema)
  // Only the first finding is reported, and these keywords are looked at before the type.
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
