import { compareValues } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'

/**
 * Returns a deeply frozen copy of plain JSON data. Keys keep their order, `undefined` members are dropped, and a key
 * named `__proto__` stays an ordinary key.
 */
export function frozenJson(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenJson))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.freeze(Object.fromEntries(entries.map(([name, member]) => [name, frozenJson(member)])))
}

const schemaLists = new Set(['allOf', 'anyOf', 'oneOf'])
const schemaMaps = new Set(['properties', 'patternProperties', 'definitions'])
const schemas = new Set(['items', 'not', 'additionalProperties', 'additionalItems'])
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/**
 * Returns a deeply frozen copy of a schema in controller-gen's order: keywords and fields alphabetically, `required`
 * sorted. Data inside the schema (defaults, examples, enums) keeps its order. Subschemas that were already
 * canonicalised are reused, so that building a tree from its leaves processes each node once.
 */
export function canonicalSchema(schema: JSONSchemaProps): JSONSchemaProps {
  if (canonical.has(schema)) return schema
  const entries: [string, unknown][] = []
  for (const [keyword, value] of Object.entries(schema).sort(([a], [b]) => compareValues(a, b))) {
    if (value !== undefined) entries.push([keyword, canonicalKeyword(keyword, value)])
  }
  // The entries are those of a JSONSchemaProps, keyword by keyword.
  const result = Object.freeze(Object.fromEntries(entries)) as JSONSchemaProps
  canonical.add(result)
  return result
}

const canonical = new WeakSet<object>()

function canonicalKeyword(keyword: string, value: unknown): unknown {
  if (schemas.has(keyword) && isObject(value)) return canonicalSchema(value)
  if (schemaLists.has(keyword) && Array.isArray(value)) return Object.freeze(value.map((arm) => canonicalSchema(arm)))
  if (schemaMaps.has(keyword) && isObject(value)) {
    const fields = Object.entries(value).sort(([a], [b]) => compareValues(a, b))
    return Object.freeze(Object.fromEntries(fields.map(([name, field]) => [name, canonicalSchema(field)])))
  }
  if (keyword === 'required' && Array.isArray(value))
    return Object.freeze([...new Set<string>(value)].sort(compareValues))
  return frozenJson(value)
}
