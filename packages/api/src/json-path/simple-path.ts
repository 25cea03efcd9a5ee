import type { JSONSchemaProps } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'

/**
 * Parses a path to a single field, such as `.spec.replicas`, into its names. Scale subresources and selectable fields
 * are limited to such paths. A name may be quoted in brackets (`.metadata.annotations['a.b/c']`) or have its dots
 * escaped (`a\.b`).
 */
export function parseSimplePath(path: string): string[] {
  if (!path.startsWith('.')) throw new ApiSyntaxError('must be a simple json path starting with .')
  const names: string[] = []
  const step = /\.((?:\\.|[^.[\\])+)|\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/y
  let at = 0
  while (at < path.length) {
    step.lastIndex = at
    const match = step.exec(path)
    if (match === null) throw new ApiSyntaxError('must be a json path in the dot notation')
    names.push((match[1] ?? match[2] ?? match[3]!).replace(/\\(.)/g, '$1'))
    at = step.lastIndex
  }
  return names
}

/** The value at a path of names, or undefined when a step is missing or null. Ignores inherited properties. */
export function valueAt(object: unknown, names: readonly string[]): unknown {
  let value: unknown = object
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? undefined
}

/** The schema of the field at a path of names, or undefined when the schema has no such field. */
export function schemaAt(schema: JSONSchemaProps, names: readonly string[]): JSONSchemaProps | undefined {
  let node: JSONSchemaProps | undefined = schema
  for (const name of names) {
    const properties: Readonly<Record<string, JSONSchemaProps>> | undefined = node?.properties
    const values: JSONSchemaProps | boolean | undefined = node?.additionalProperties
    if (properties !== undefined && Object.hasOwn(properties, name)) node = properties[name]
    else node = typeof values === 'object' ? values : undefined
    if (node === undefined) return undefined
  }
  return node
}
