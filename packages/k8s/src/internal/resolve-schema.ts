import type { JSONSchemaProps } from '@kubewright/schema'
import { opaqueSchemas } from './opaque-schemas.ts'
import type { Definition, Shape } from './schema-notation.ts'
import type { SchemaTable } from './schema-table.ts'

type Mutable = { -readonly [K in keyof JSONSchemaProps]: JSONSchemaProps[K] }

// The key that structName() of the schema package reads. Importing that package here would load much more code.
const structNameKey = Symbol.for('kubewright.structName')

// By table and local name. A definition is resolved once per process; all references share its `properties`.
const resolved = new WeakMap<SchemaTable, Map<string, JSONSchemaProps>>()

/**
 * Returns the schema of a definition with all references resolved: plain data, including published defaults, list types
 * and merge keys. References share nodes, so the result is a graph, which is cyclic where the API is (JSONSchemaProps
 * in a CRD).
 */
export function resolveSchema(table: SchemaTable, local: string): JSONSchemaProps {
  const opaque = Object.hasOwn(opaqueSchemas, local) ? opaqueSchemas[local] : undefined
  if (opaque !== undefined && table.has(local)) return opaque.kind
  let known = resolved.get(table)
  if (known === undefined) resolved.set(table, (known = new Map()))
  const before = known.get(local)
  if (before !== undefined) return before

  const definition = table.definition(local)
  const properties: Record<string, JSONSchemaProps> = {}
  const node: Mutable = { type: 'object' }
  if (definition.required.length > 0) node.required = definition.required
  node.properties = properties
  if (definition.mapType !== undefined) node['x-kubernetes-map-type'] = definition.mapType
  if (definition.kindOf !== undefined) node['x-kubernetes-group-version-kind'] = kindsOf(definition)
  setStructName(node, local)
  // Registered before any field is followed, complete except for the entries of `properties`, so that a cycle finds
  // this node.
  known.set(local, node)
  for (const [name, shape] of definition.fields) properties[name] = resolveShape(table, shape)
  return node
}

/**
 * Records the Go struct that the schema describes, in a property that copies and published documents do not contain.
 */
function setStructName(schema: JSONSchemaProps, name: string): void {
  Object.defineProperty(schema, structNameKey, { value: name })
}

/** Returns `x-kubernetes-group-version-kind` as published. */
export function kindsOf(definition: Definition): readonly { group: string; kind: string; version: string }[] {
  return (definition.kindOf ?? []).map((apiVersion) => {
    const slash = apiVersion.indexOf('/')
    return {
      group: apiVersion.slice(0, Math.max(slash, 0)),
      kind: definition.name,
      version: apiVersion.slice(slash + 1),
    }
  })
}

function resolveShape(table: SchemaTable, shape: Shape): JSONSchemaProps {
  const extensions = extensionsOf(shape)
  if (shape.ref !== undefined) {
    const target = table.locate(shape.ref)
    const schema = resolveSchema(target.table, target.local)
    if (extensions === undefined) return schema
    const copy = { ...schema, ...extensions }
    if (schema.properties) setStructName(copy, target.local)
    return copy
  }
  const node: Mutable = {}
  if (shape.type !== undefined) node.type = shape.type
  if (shape.format !== undefined) node.format = shape.format
  if (shape.items !== undefined) {
    node.type = 'array'
    node.items = resolveShape(table, shape.items)
  } else if (shape.values !== undefined) {
    node.type = 'object'
    node.additionalProperties = resolveShape(table, shape.values)
  }
  return extensions === undefined ? node : Object.assign(node, extensions)
}

/** Returns the keywords of a shape besides its type, or undefined if there are none. */
export function extensionsOf(shape: Shape): JSONSchemaProps | undefined {
  const node: Mutable = {}
  let some = false
  const set = <K extends keyof Mutable>(key: K, value: Mutable[K] | undefined): void => {
    if (value === undefined) return
    node[key] = value
    some = true
  }
  set('default', shape.default)
  set('enum', shape.enum)
  set('x-kubernetes-list-map-keys', shape.listMapKeys)
  set('x-kubernetes-list-type', shape.listType)
  set('x-kubernetes-map-type', shape.mapType)
  set('x-kubernetes-patch-merge-key', shape.patchMergeKey)
  set('x-kubernetes-patch-strategy', shape.patchStrategy)
  return some ? node : undefined
}
