// Writes definitions in the notation of packages/k8s/src/internal/schema-notation.ts.
import { shortName } from '../../packages/k8s/src/internal/definition-name.ts'
import { opaqueSchemas } from '../../packages/k8s/src/internal/opaque-schemas.ts'
import { SCALARS } from '../../packages/k8s/src/internal/schema-notation.ts'
import type { FactDefinition, PublishedSchema } from './api-facts.ts'

const HANDLED: ReadonlySet<string> = new Set([
  'type',
  'format',
  'required',
  'properties',
  'items',
  'additionalProperties',
  'default',
  'enum',
  'allOf',
  '$ref',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-unions',
  'x-kubernetes-group-version-kind',
])

/** Returns the line of a definition. */
export function writeDefinition({ table, local, schema }: FactDefinition): string {
  if (Object.hasOwn(opaqueSchemas, local)) return local
  const words = [local]
  if (schema.required) words.push(`!${schema.required.join(',')}`)
  if (schema['x-kubernetes-map-type']) words.push(`^${schema['x-kubernetes-map-type']}`)
  const kinds = schema['x-kubernetes-group-version-kind']
  if (kinds) {
    if (kinds.some((gvk) => gvk.kind !== local)) throw new Error(`${local} is published as another kind`)
    words.push(`&${kinds.map(({ group, version }) => (group === '' ? version : `${group}/${version}`)).join(',')}`)
  }
  if (schema['x-kubernetes-unions']) words.push(`+${JSON.stringify(schema['x-kubernetes-unions'])}`)
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    words.push(`${name}:${writeShape(table, field, true)}`)
  if (words.some((word) => /[\s`\\]|\$\{/.test(word))) throw new Error(`${local} does not fit the notation`)
  return words.join(' ')
}

/** Returns the definition to which a schema refers, directly or as the only part of an allOf. */
export function referenceOf(schema: PublishedSchema): { readonly table: string; readonly local: string } | undefined {
  const ref = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined)
  return ref === undefined ? undefined : shortName(ref.slice(ref.lastIndexOf('/') + 1))
}

function writeShape(table: string, schema: PublishedSchema, isField: boolean): string {
  for (const key of Object.keys(schema)) if (!HANDLED.has(key)) throw new Error(`The notation does not support ${key}`)
  let text = writeType(table, schema, isField)
  if (schema.enum) {
    if (schema.enum.some((value) => /[_()|]/.test(value)))
      throw new Error(`The notation does not support the enum ${schema.enum}`)
    text += `(${schema.enum.join('|').replaceAll(' ', '_')})`
  }
  if (schema.default !== undefined) text += `=${JSON.stringify(schema.default)}`
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys']
  if (listType) text += `%${listType}${keys ? `(${keys.join(',')})` : ''}`
  if (schema['x-kubernetes-map-type']) text += `^${schema['x-kubernetes-map-type']}`
  const strategy = schema['x-kubernetes-patch-strategy']
  const mergeKey = schema['x-kubernetes-patch-merge-key']
  if (strategy) text += `~${strategy}${mergeKey ? `(${mergeKey})` : ''}`
  return text
}

function writeType(table: string, schema: PublishedSchema, isField: boolean): string {
  const ref = referenceOf(schema)
  if (ref !== undefined) {
    const name = ref.table === table ? ref.local : `${ref.table}.${ref.local}`
    return isField && schema.$ref !== undefined ? `$${name}` : name
  }
  if (schema.items) return `[${writeShape(table, schema.items, false)}]`
  if (schema.additionalProperties) return `<${writeShape(table, schema.additionalProperties, false)}>`
  for (const [word, scalar] of Object.entries(SCALARS)) {
    if (scalar.type === schema.type && scalar.format === schema.format) return word
  }
  throw new Error(`The notation does not support ${JSON.stringify(schema)}`)
}
