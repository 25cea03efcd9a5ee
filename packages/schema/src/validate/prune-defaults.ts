import { deepCopy, deepEqual } from '@kubewright/base'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { type JsonObject, StructuralNode } from '../model/structural-node.ts'
import { coerceMetadata } from './embedded-resources.ts'
import { pruneFields } from './prune-fields.ts'

/**
 * Returns the schema with unknown fields removed from its defaults; the same object if nothing changes.
 *
 * The API server does this when it starts to serve a CRD, because defaults in metadata need not be pruned.
 */
export function applyPrunedDefaults(schema: JSONSchemaProps): JSONSchemaProps {
  const root = StructuralNode.of(schema)
  if (!root.has('defaults')) return schema
  return pruned(root, root.asResourceRoot(), (value) => [value, (object) => object])
}

/** Puts a value at its position in a resource, and returns a function that reads it back. */
type Surround = (value: unknown) => readonly [resource: unknown, read: (resource: unknown) => unknown]

function pruned(node: StructuralNode, root: StructuralNode, surround: Surround): JSONSchemaProps {
  const { json } = node
  const changes: { -readonly [Key in 'default' | 'items' | 'properties']?: JSONSchemaProps[Key] } = {}
  if (node.default !== undefined) {
    const value = prunedDefault(node.default, root, surround)
    if (!deepEqual(value, node.default)) changes.default = value
  }
  if (node.items !== undefined) {
    const items = pruned(node.items, root, below(surround, 0))
    if (items !== json.items) changes.items = items
  }
  const properties = [...(node.properties ?? [])].map(
    ([name, property]) => [name, pruned(property, root, below(surround, name))] as const,
  )
  if (properties.some(([name, result]) => result !== node.properties?.get(name)?.json)) {
    changes.properties = Object.fromEntries(properties)
  }
  return Object.keys(changes).length === 0 ? json : { ...json, ...changes }
}

function prunedDefault(value: unknown, root: StructuralNode, surround: Surround): unknown {
  const [resource, read] = surround(deepCopy(value))
  coerceMetadata(resource, root, FieldPath.none, { dropInvalid: true })
  pruneFields(resource, root)
  return read(resource)
}

function below(surround: Surround, step: string | number): Surround {
  return (value) => {
    const [resource, read] = surround(typeof step === 'number' ? [value] : { [step]: value })
    return [resource, (object) => (read(object) as JsonObject | undefined)?.[step]]
  }
}
