import { isJsonObject } from '@kubewright/base'
import { canonicalSchema } from '../builder/canonical-json.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'

// Keywords without effect if they are false, empty or null; Go's omitempty omits them.
const emptyMeansAbsent = new Set([
  'description',
  'title',
  'type',
  'format',
  'pattern',
  'nullable',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'uniqueItems',
  'required',
  'enum',
  'allOf',
  'anyOf',
  'oneOf',
  'properties',
  'default',
  'example',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
])
const emptyRuleKeys = new Set(['message', 'messageExpression', 'fieldPath', 'reason'])

/** Returns a schema without ineffective keywords, in canonical order, so that equivalent schemas become equal. */
export function normalSchema(schema: JSONSchemaProps): JSONSchemaProps {
  return canonicalSchema(strip(schema))
}

function strip(schema: JSONSchemaProps): JSONSchemaProps {
  const entries: [string, unknown][] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (emptyMeansAbsent.has(keyword) && isEmpty(keyword, value)) continue
    entries.push([keyword, stripKeyword(keyword, value)])
  }
  return Object.fromEntries(entries)
}

function isEmpty(keyword: string, value: unknown): boolean {
  if (value === null || value === undefined) return true
  // An empty or false default or example is significant.
  if (keyword === 'default' || keyword === 'example') return false
  return value === false || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
}

function stripKeyword(keyword: string, value: unknown): unknown {
  switch (keyword) {
    case 'items':
    case 'not':
    case 'additionalProperties':
      return isJsonObject(value) ? strip(value) : value
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return Array.isArray(value) ? value.map((arm) => strip(arm)) : value
    case 'properties':
      return Object.fromEntries(Object.entries(value as object).map(([name, field]) => [name, strip(field)]))
    case 'x-kubernetes-validations':
      return Array.isArray(value) ? value.map(stripRule) : value
    default:
      return value
  }
}

function stripRule(rule: object): object {
  return Object.fromEntries(Object.entries(rule).filter(([key, value]) => !(emptyRuleKeys.has(key) && value === '')))
}
