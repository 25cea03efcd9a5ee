import type { JSONSchemaProps } from '@kubewright/schema'
import { publishedName } from './definition-name.ts'
import { opaqueSchemas } from './opaque-schemas.ts'
import { extensionsOf, kindsOf } from './resolve-schema.ts'
import type { Shape } from './schema-notation.ts'
import type { SchemaTable } from './schema-table.ts'

/** The published document for which a schema is written. */
export type OpenApiVersion = 'v2' | 'v3'

/**
 * Returns a definition in the form that the API server publishes, with references in place. Each call returns a new
 * object.
 */
export function publishSchema(table: SchemaTable, local: string, version: OpenApiVersion): JSONSchemaProps {
  const opaque = Object.hasOwn(opaqueSchemas, local) ? opaqueSchemas[local] : undefined
  if (opaque !== undefined && table.has(local)) return version === 'v2' ? (opaque.v2 ?? opaque.v3) : opaque.v3
  const definition = table.definition(local)
  const node: Record<string, unknown> = { type: 'object' }
  if (definition.required.length > 0) node['required'] = definition.required
  if (definition.fields.size > 0) {
    const properties: Record<string, unknown> = {}
    for (const [name, shape] of definition.fields) properties[name] = publishShape(table, shape, version, true)
    node['properties'] = properties
  }
  if (definition.kindOf !== undefined) node['x-kubernetes-group-version-kind'] = kindsOf(definition)
  if (definition.mapType !== undefined) node['x-kubernetes-map-type'] = definition.mapType
  if (definition.unions !== undefined) node['x-kubernetes-unions'] = definition.unions
  return node
}

function publishShape(
  table: SchemaTable,
  shape: Shape,
  version: OpenApiVersion,
  isField: boolean,
): Record<string, unknown> {
  const extensions: Record<string, unknown> = { ...extensionsOf(shape) }
  // OpenAPI v2 has no defaults. OpenAPI v3 ignores siblings of $ref, so a reference with further keywords is wrapped in
  // allOf.
  if (version === 'v2') delete extensions['default']
  if (shape.ref !== undefined) {
    const { table: home, local } = table.locate(shape.ref)
    if (version === 'v2') return { $ref: `#/definitions/${publishedName(home.key, local)}`, ...extensions }
    const ref = { $ref: `#/components/schemas/${publishedName(home.key, local)}` }
    const bare = shape.bareRef === true || (!isField && Object.keys(extensions).length === 0)
    return bare ? ref : { allOf: [ref], ...extensions }
  }
  const node: Record<string, unknown> = {}
  if (shape.items !== undefined) {
    node['type'] = 'array'
    node['items'] = publishShape(table, shape.items, version, false)
  } else if (shape.values !== undefined) {
    node['type'] = 'object'
    node['additionalProperties'] = publishShape(table, shape.values, version, false)
  } else {
    if (shape.type !== undefined) node['type'] = shape.type
    if (shape.format !== undefined) node['format'] = shape.format
  }
  return Object.assign(node, extensions)
}
