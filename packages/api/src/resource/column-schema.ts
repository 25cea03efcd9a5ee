import type { JSONSchemaProps } from '@kubewright/schema'
import type { StepNode } from '../json-path/json-path-node.ts'
import { parseTemplate } from '../json-path/parse-json-path.ts'

// A CRD schema declares metadata as a plain object; the API server adds these fields.
const metadata: JSONSchemaProps = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', format: 'date-time' },
    deletionTimestamp: { type: 'string', format: 'date-time' },
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    ownerReferences: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } },
    finalizers: { type: 'array', items: { type: 'string' } },
  },
}

/**
 * The schema of the field that a column's JSONPath points to, or undefined when there is no such field. Indexes,
 * slices, wildcards and filters select list elements. Fields below an untyped field are accepted.
 */
export function columnSchema(schema: JSONSchemaProps, jsonPath: string): JSONSchemaProps | undefined {
  const root = { ...schema, properties: { ...schema.properties, metadata } }
  const [action] = parseTemplate(`{${jsonPath}}`)
  let node: JSONSchemaProps | undefined = root
  for (const step of action?.type === 'list' ? action.steps : []) {
    if (node === undefined) return undefined
    node = stepInto(node, step)
  }
  return node
}

function stepInto(schema: JSONSchemaProps, step: StepNode): JSONSchemaProps | undefined {
  switch (step.type) {
    case 'field': {
      const { properties, additionalProperties } = schema
      if (properties !== undefined && Object.hasOwn(properties, step.name)) return properties[step.name]
      if (typeof additionalProperties === 'object') return additionalProperties
      return isOpen(schema) ? schema : undefined
    }
    case 'array':
    case 'filter':
      return schema.items ?? (isOpen(schema) ? schema : undefined)
    case 'wildcard':
      return schema.items ?? {}
    default:
      // Recursive descent and unions can select a field of any type.
      return {}
  }
}

function isOpen(schema: JSONSchemaProps): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true || Object.keys(schema).length === 0
}
