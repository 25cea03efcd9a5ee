import type { JSONSchemaProps } from '../model/json-schema.ts'
import { propertyName, type SourceDoc, valueDoc } from './source-doc.ts'

/**
 * Returns the TypeScript type of a schema's values as source text: as read (`out`, defaults filled in) or as written
 * (`in`).
 */
export function typeDoc(schema: JSONSchemaProps, side: 'out' | 'in'): SourceDoc {
  const doc = bareType(schema, side)
  return schema.nullable && !schema.enum?.includes(null) ? [doc, ' | null'] : doc
}

function bareType(schema: JSONSchemaProps, side: 'out' | 'in'): SourceDoc {
  if (schema.enum !== undefined && schema.enum.length > 0) return enumType(schema.enum)
  if (schema['x-kubernetes-int-or-string']) return 'number | string'
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'array':
      return ['Array<', typeDoc(schema.items ?? {}, side), '>']
    case 'object':
      return objectType(schema, side)
    default:
      return 'unknown'
  }
}

function enumType(values: readonly unknown[]): SourceDoc {
  if (values.some((value) => (typeof value === 'object' && value !== null) || typeof value === 'bigint'))
    return 'unknown'
  return [...new Set(values)].flatMap((value, index) => (index === 0 ? [valueDoc(value)] : [' | ', valueDoc(value)]))
}

function objectType(schema: JSONSchemaProps, side: 'out' | 'in'): SourceDoc {
  const extra = schema.additionalProperties
  const fields = Object.entries(schema.properties ?? {})
  if (fields.length === 0) {
    if (schema['x-kubernetes-embedded-resource']) return '{ apiVersion: string; kind: string; [key: string]: unknown }'
    return ['Record<string, ', typeof extra === 'object' ? typeDoc(extra, side) : 'unknown', '>']
  }
  const items = fields.map(([name, field]): SourceDoc => {
    const filled = field.default !== undefined && field.default !== null
    const present = side === 'out' && filled ? true : (schema.required?.includes(name) ?? false) && !filled
    return [`${propertyName(name)}${present ? '' : '?'}: `, typeDoc(field, side)]
  })
  if (schema['x-kubernetes-preserve-unknown-fields']) items.push('[key: string]: unknown')
  return { open: '{', close: '}', padded: true, separator: ';', items }
}
