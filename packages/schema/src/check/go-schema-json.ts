import { goJson } from '../field/go-format.ts'
import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'

/** Formats a rule like Go marshals the API server's internal type: Go field names, in declaration order. */
export function ruleJson(rule: ValidationRule): string {
  return object([
    ['Rule', goJson(rule.rule ?? '')],
    ['Message', goJson(rule.message ?? '')],
    ['MessageExpression', goJson(rule.messageExpression ?? '')],
    ['Reason', goJson(rule.reason ?? null)],
    ['FieldPath', goJson(rule.fieldPath ?? '')],
    ['OptionalOldSelf', goJson(rule.optionalOldSelf ?? null)],
  ])
}

/**
 * Formats a schema like Go marshals the API server's internal type. Errors that refer to a complete schema contain it
 * in this form.
 */
export function schemaJson(schema: JSONSchemaProps): string {
  const additional = schema.additionalProperties
  return object([
    ['ID', goJson(schema.id ?? '')],
    ['Schema', goJson(schema.$schema ?? '')],
    ['Ref', goJson(schema.$ref ?? null)],
    ['Description', goJson(schema.description ?? '')],
    ['Type', goJson(schema.type ?? '')],
    ['Nullable', goJson(schema.nullable ?? false)],
    ['Format', goJson(schema.format ?? '')],
    ['Title', goJson(schema.title ?? '')],
    ['Default', goJson(schema.default ?? null)],
    ['Maximum', goJson(schema.maximum ?? null)],
    ['ExclusiveMaximum', goJson(schema.exclusiveMaximum ?? false)],
    ['Minimum', goJson(schema.minimum ?? null)],
    ['ExclusiveMinimum', goJson(schema.exclusiveMinimum ?? false)],
    ['MaxLength', goJson(schema.maxLength ?? null)],
    ['MinLength', goJson(schema.minLength ?? null)],
    ['Pattern', goJson(schema.pattern ?? '')],
    ['MaxItems', goJson(schema.maxItems ?? null)],
    ['MinItems', goJson(schema.minItems ?? null)],
    ['UniqueItems', goJson(schema.uniqueItems ?? false)],
    ['MultipleOf', goJson(schema.multipleOf ?? null)],
    ['Enum', goJson(schema.enum ?? null)],
    ['MaxProperties', goJson(schema.maxProperties ?? null)],
    ['MinProperties', goJson(schema.minProperties ?? null)],
    ['Required', goJson(schema.required ?? null)],
    ['Items', itemsJson(schema.items)],
    ['AllOf', list(schema.allOf)],
    ['OneOf', list(schema.oneOf)],
    ['AnyOf', list(schema.anyOf)],
    ['Not', schema.not === undefined || schema.not === null ? 'null' : schemaJson(schema.not)],
    ['Properties', map(schema.properties)],
    ['AdditionalProperties', orBool(additional)],
    ['PatternProperties', map(schema.patternProperties)],
    ['Dependencies', 'null'],
    ['AdditionalItems', orBool(schema.additionalItems)],
    ['Definitions', map(schema.definitions)],
    ['ExternalDocs', externalDocs(schema.externalDocs)],
    ['Example', goJson(schema.example ?? null)],
    ['XPreserveUnknownFields', goJson(schema['x-kubernetes-preserve-unknown-fields'] ?? null)],
    ['XEmbeddedResource', goJson(schema['x-kubernetes-embedded-resource'] ?? false)],
    ['XIntOrString', goJson(schema['x-kubernetes-int-or-string'] ?? false)],
    ['XListMapKeys', goJson(schema['x-kubernetes-list-map-keys'] ?? null)],
    ['XListType', goJson(schema['x-kubernetes-list-type'] ?? null)],
    ['XMapType', goJson(schema['x-kubernetes-map-type'] ?? null)],
    ['XValidations', rules(schema['x-kubernetes-validations'])],
  ])
}

/** Formats item schemas: a single schema or a list. */
export function itemsJson(items: unknown): string {
  if (items === undefined || items === null) return 'null'
  const several = Array.isArray(items) ? (items as JSONSchemaProps[]) : undefined
  return object([
    ['Schema', several === undefined ? schemaJson(items as JSONSchemaProps) : 'null'],
    ['JSONSchemas', list(several)],
  ])
}

function object(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([key, value]) => `"${key}":${value}`).join(',')}}`
}

function list(schemas: readonly JSONSchemaProps[] | null | undefined): string {
  return schemas === undefined || schemas === null ? 'null' : `[${schemas.map(schemaJson).join(',')}]`
}

function map(schemas: Readonly<Record<string, JSONSchemaProps>> | null | undefined): string {
  if (schemas === undefined || schemas === null) return 'null'
  const keys = Object.keys(schemas).sort()
  return `{${keys.map((key) => `${goJson(key)}:${schemaJson(schemas[key] as JSONSchemaProps)}`).join(',')}}`
}

function orBool(value: JSONSchemaProps | boolean | null | undefined): string {
  if (value === undefined || value === null) return 'null'
  if (typeof value === 'boolean')
    return object([
      ['Allows', String(value)],
      ['Schema', 'null'],
    ])
  return object([
    ['Allows', 'true'],
    ['Schema', schemaJson(value)],
  ])
}

function externalDocs(docs: JSONSchemaProps['externalDocs'] | null): string {
  if (docs === undefined || docs === null) return 'null'
  return object([
    ['Description', goJson(docs.description ?? '')],
    ['URL', goJson(docs.url ?? '')],
  ])
}

function rules(validations: readonly ValidationRule[] | null | undefined): string {
  return validations === undefined || validations === null ? 'null' : `[${validations.map(ruleJson).join(',')}]`
}
