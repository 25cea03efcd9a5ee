import type { JSONSchemaProps } from './json-schema.ts'

/** Reports whether a keyword has the zero value of its Go type and therefore counts as unset. */
function isZero(key: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  // The API server stores these as pointers, so an explicit false differs from unset.
  if (key === 'additionalProperties' || key === 'x-kubernetes-preserve-unknown-fields') return false
  if (value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return key === 'properties' && Object.keys(value as object).length === 0
}

/** Keywords that structural schemas do not retain. */
const NOT_KEPT: ReadonlySet<string> = new Set(['externalDocs', 'example'])

/** Returns the keywords that a schema sets, except documentation that structural schemas do not retain. */
export function keywordsOf(schema: JSONSchemaProps): string[] {
  return Object.entries(schema)
    .filter(([key, value]) => !NOT_KEPT.has(key) && !isZero(key, value))
    .map(([key]) => key)
}

/** Returns the items schema, or `undefined` if there is none or a list of schemas, which is not structural. */
export function singleItems(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const items: unknown = schema.items
  // Lists of item schemas are valid JSON schema, so they can occur here although the type excludes them.
  return Array.isArray(items) || items === null ? undefined : (items as JSONSchemaProps | undefined)
}

/** Returns the item schemas if they are a list. */
export function itemsList(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  const items: unknown = schema.items
  return Array.isArray(items) ? (items as JSONSchemaProps[]) : []
}

/** Returns the schema of a property, or `undefined` if it is not declared. */
export function propertyOf(schema: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  const properties = schema.properties ?? {}
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** Returns the schema of additional properties, or `undefined` if there is none or only a boolean. */
export function additionalSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const additional = schema.additionalProperties
  return typeof additional === 'object' && additional !== null ? additional : undefined
}

/** Reports whether the schema sets additionalProperties. */
export function hasAdditional(schema: JSONSchemaProps): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== null
}

/**
 * Returns the reason why the schema cannot be converted to a structural schema, or `undefined`, with the texts of
 * apiextensions-apiserver's `NewStructural`.
 */
export function structuralError(schema: JSONSchemaProps): string | undefined {
  const unsupported = unsupportedKeyword(schema)
  if (unsupported !== undefined) return `OpenAPIV3Schema '${unsupported}' is not supported`
  for (const branch of branchesOf(schema)) {
    const error = structuralError(branch)
    if (error !== undefined) return error
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  if (itemsList(schema).length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  const children = [singleItems(schema), ...Object.values(schema.properties ?? {}), additionalSchema(schema)]
  for (const child of children) {
    const error = child === undefined ? undefined : structuralError(child)
    if (error !== undefined) return error
  }
  return undefined
}

/** Returns the branches of all junctors (not, allOf, anyOf, oneOf). */
function branchesOf(schema: JSONSchemaProps): JSONSchemaProps[] {
  const not = schema.not === undefined || schema.not === null ? [] : [schema.not]
  return [...not, ...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
}

function unsupportedKeyword(schema: JSONSchemaProps): string | undefined {
  if (schema.id) return 'id'
  if (schema.$schema) return 'schema'
  if (schema.$ref) return '$ref'
  if (Object.keys(schema.patternProperties ?? {}).length > 0) return 'patternProperties'
  if (Object.keys(schema.dependencies ?? {}).length > 0) return 'dependencies'
  if (schema.additionalItems !== undefined && schema.additionalItems !== null) return 'additionalItems'
  if (Object.keys(schema.definitions ?? {}).length > 0) return 'definitions'
  return undefined
}

/** Reports whether the predicate holds for the schema or any nested schema. */
export function someSchema(schema: JSONSchemaProps, holds: (schema: JSONSchemaProps) => boolean): boolean {
  if (holds(schema)) return true
  const items = singleItems(schema)
  const additional = additionalSchema(schema)
  const children = [
    ...(items === undefined ? itemsList(schema) : [items]),
    ...branchesOf(schema),
    ...Object.values(schema.properties ?? {}),
    ...(additional === undefined ? [] : [additional]),
    ...Object.values(schema.patternProperties ?? {}),
    ...Object.values(schema.definitions ?? {}),
  ]
  return children.some((child) => someSchema(child, holds))
}
