import type { JSONSchemaProps } from '../json-schema.ts'

/** The keywords of a schema that say nothing when they hold the zero value of their Go type. */
function isZero(key: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  // The API server keeps these as pointers, so that an explicit false is not the same as nothing.
  if (key === 'additionalProperties' || key === 'x-kubernetes-preserve-unknown-fields') return false
  if (value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return key === 'properties' && Object.keys(value as object).length === 0
}

/** Keywords that a structural schema does not keep. */
const NOT_KEPT: ReadonlySet<string> = new Set(['externalDocs', 'example'])

/** The keywords that a schema sets, but for documentation that structural schemas do not keep. */
export function keywordsOf(schema: JSONSchemaProps): string[] {
  return Object.entries(schema)
    .filter(([key, value]) => !NOT_KEPT.has(key) && !isZero(key, value))
    .map(([key]) => key)
}

/** The items schema if it is a single one; a list of schemas is not structural. */
export function singleItems(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const items: unknown = schema.items
  // Lists of item schemas are valid JSON schema, so they arrive here even though the type does not know them.
  return Array.isArray(items) || items === null ? undefined : (items as JSONSchemaProps | undefined)
}

/** The items schemas if they are given as a list. */
export function itemsList(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  const items: unknown = schema.items
  return Array.isArray(items) ? (items as JSONSchemaProps[]) : []
}

/** The schema of a property, or `undefined` if it is not declared. */
export function propertyOf(schema: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  const properties = schema.properties ?? {}
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The schema of additional properties, or `undefined` when there is none or only a boolean. */
export function additionalSchema(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  const additional = schema.additionalProperties
  return typeof additional === 'object' && additional !== null ? additional : undefined
}

/** Whether the schema says anything about additional properties. */
export function hasAdditional(schema: JSONSchemaProps): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== null
}

/**
 * Why the schema cannot be read as a structural one at all, or `undefined`; as apiextensions-apiserver's `NewStructural` says it.
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

/** The branches of all junctors. */
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

/** Whether the predicate holds for the schema or any schema in it. */
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
