import { encodeYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import { jsonText } from '../text/json-text.ts'

/** A value of a chart. */
export interface ChartValue {
  /** The path in values.yaml, such as `manager.replicas`. */
  readonly path: string
  readonly comment: string
  readonly default: unknown
  /** The JSON schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>
}

interface Section {
  readonly fields: Map<string, Section | ChartValue>
}

/** The text of values.yaml, with a comment on each value. */
export function valuesYaml(values: readonly ChartValue[]): string {
  const sections = [...sectionsOf(values).fields].map(([key, node]) => lines(key, node, '').join('\n'))
  return `${sections.join('\n\n')}\n`
}

/** The text of values.schema.json. Unknown values are rejected, so that a misspelt one is not ignored. */
export function valuesSchema(values: readonly ChartValue[], rules: readonly object[]): string {
  const root = schemaOf(sectionsOf(values))
  const properties = { ...(root['properties'] as object), global: { type: 'object' } }
  const schema = { $schema: 'https://json-schema.org/draft-07/schema#', ...root, properties, allOf: rules }
  return jsonText(schema)
}

/**
 * The values that an earlier values.schema.json has as defaults, with current comments. Values that it lacks are new, and not among them.
 * Undefined if the text is not valid.
 */
export function valuesInSchema(text: string, values: readonly ChartValue[]): ChartValue[] | undefined {
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch {
    return undefined
  }
  return values.flatMap((value) => {
    let at = schema
    for (const key of value.path.split('.')) {
      const properties = isJsonObject(at) ? at['properties'] : undefined
      at = isJsonObject(properties) ? properties[key] : undefined
    }
    return isJsonObject(at) && Object.hasOwn(at, 'default') ? [{ ...value, default: at['default'] }] : []
  })
}

function sectionsOf(values: readonly ChartValue[]): Section {
  const root: Section = { fields: new Map() }
  for (const value of values) {
    const keys = value.path.split('.')
    const last = keys.pop()!
    let at = root
    for (const key of keys) {
      const next = at.fields.get(key) ?? { fields: new Map() }
      at.fields.set(key, next)
      at = next as Section
    }
    at.fields.set(last, value)
  }
  return root
}

function lines(key: string, node: Section | ChartValue, indent: string): string[] {
  if ('fields' in node) {
    return [`${indent}${key}:`, ...[...node.fields].flatMap(([name, inner]) => lines(name, inner, `${indent}  `))]
  }
  const text = encodeYaml({ [key]: node.default }).trimEnd()
  const comments = node.comment.split('\n').map((line) => `${indent}# ${line}`)
  return [...comments, ...text.split('\n').map((line) => `${indent}${line}`)]
}

function schemaOf(node: Section | ChartValue): Record<string, unknown> {
  if (!('fields' in node)) {
    return { description: node.comment.replaceAll('\n', ' '), ...node.schema, default: node.default }
  }
  const properties = Object.fromEntries([...node.fields].map(([key, inner]) => [key, schemaOf(inner)]))
  return { type: 'object', additionalProperties: false, properties }
}
