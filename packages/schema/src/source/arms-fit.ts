import { isSupportedFormat } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'

const sizes = {
  string: ['minLength', 'maxLength', 'pattern', 'format', 'enum'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format', 'enum'],
  boolean: ['enum'],
  intOrString: ['minimum', 'maximum', 'pattern', 'minLength', 'maxLength', 'enum'],
  array: ['minItems', 'maxItems', 'items'],
  map: ['minProperties', 'maxProperties', 'required'],
  object: ['minProperties', 'maxProperties', 'required', 'properties'],
} as const
const numberFormats = ['int32', 'int64', 'float', 'double']

/**
 * Reports whether the types of `s` allow all combinations of a schema: an arm may only use keywords and fields that
 * apply to the type. The API server is more lenient, because keywords for other types have no effect.
 */
export function armsFit(schema: JSONSchemaProps): boolean {
  return arms(schema).every((arm) => fits(schema, arm))
}

const arms = (schema: JSONSchemaProps): readonly JSONSchemaProps[] => [
  ...(schema.allOf ?? []),
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.not === undefined ? [] : [schema.not]),
]

function fits(schema: JSONSchemaProps, arm: JSONSchemaProps): boolean {
  const kind = kindOf(schema)
  if (kind === undefined) return false
  const allowed: readonly string[] = sizes[kind]
  const { allOf, anyOf, oneOf, not, ...own } = arm
  if (!Object.keys(own).every((keyword) => allowed.includes(keyword))) return false
  if (own.enum !== undefined && !own.enum.every((value) => isOf(kind, value))) return false
  if (own.format !== undefined) {
    if (kind === 'string' ? !isSupportedFormat(own.format) : !numberFormats.includes(own.format)) return false
  }
  if (own.items !== undefined && !fits(schema.items ?? {}, own.items)) return false
  if (kind === 'object' && !fieldsFit(schema, own)) return false
  return arms(arm).every((inner) => fits(schema, inner))
}

function fieldsFit(schema: JSONSchemaProps, arm: JSONSchemaProps): boolean {
  const fields = schema.properties ?? {}
  const isField = (name: string): boolean => Object.hasOwn(fields, name)
  if (arm.required?.every(isField) === false) return false
  return Object.entries(arm.properties ?? {}).every(([name, inner]) => isField(name) && fits(fields[name] ?? {}, inner))
}

function kindOf(schema: JSONSchemaProps): keyof typeof sizes | undefined {
  if (schema['x-kubernetes-int-or-string']) return 'intOrString'
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'array':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'object':
      return schema.properties === undefined ? 'map' : 'object'
    default:
      return undefined
  }
}

const isOf = (kind: keyof typeof sizes, value: unknown): boolean =>
  kind === 'intOrString' ? typeof value === 'string' || typeof value === 'number' : typeof value === kind
