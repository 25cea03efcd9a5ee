import { commentToSource, dataToSource, type JSONSchemaProps, schemaToSource } from '@kubewright/schema'
import { oneLine } from '../text/one-line.ts'
import type { PlannedField, PlannedVersion, ResourcePlan } from './plan-resource.ts'
import { columnOptions } from './planned-kind.ts'

/** The options of {@link resourceText}. */
export interface ResourceTextOptions {
  /** The source of the CRD, for the comment at the top. */
  readonly origin: string
}

// Names that the module uses.
const taken = ['Array', 'Record', 'Infer']

/** The exported name of a kind, in CamelCase. */
export function exportedName(kind: string): string {
  const name = kind.replace(/(?:^|-+)(\w?)/g, (_, letter: string) => letter.toUpperCase())
  return taken.includes(name) ? `${name}Kind` : name
}

/** The text of the module that defines a kind with `defineResource` and `s`. */
export function resourceText({ names, versions }: ResourcePlan, { origin }: ResourceTextOptions): string {
  const name = exportedName(names.kind)
  const { metadata, external, ...plain } = names
  const members: Member[] = Object.entries(plain).map(([key, value]) => [key, data(value)])
  const [only] = versions
  // A single version needs no `versions`, unless it is deprecated or not served.
  const single = versions.length === 1 && only !== undefined && only.served && only.deprecated === false
  members.splice(2, 0, ...(single ? [['version', data(only.name)] satisfies Member] : []))
  if (external) members.push(['external', data(true)])
  if (metadata !== undefined) members.push(['metadata', data(metadata)])
  if (single) members.push(...versionMembers(only))
  else members.push(['versions', object(versions.map((version) => [version.name, versionOf(version)]))])
  const about = versions.find(({ storage }) => storage)?.description
  const usesSchemas = versions.some(
    (version) => version.spec || version.status || version.objectName || Object.keys(version.fields).length > 0,
  )
  return [
    `// Imported from ${oneLine(origin)} by kubewright import. Do not edit: import it again.`,
    `import { defineResource, type Infer${usesSchemas ? ', s' : ''} } from 'kubewright'`,
    '',
    commentToSource(about ?? `${names.kind} of ${names.group}.`),
    `export const ${name} = defineResource(${object(members)(0, 0)})`,
    `export type ${name} = Infer<typeof ${name}>`,
    '',
  ].join('\n')
}

/** Renders text at an indentation, starting in a column. */
type Text = (indent: number, column: number) => string
type Member = readonly [name: string, text: Text]

const data =
  (value: unknown): Text =>
  (indent, column) =>
    dataToSource(value, { indent, column })

/** An object literal with one member per line. */
function object(members: readonly Member[]): Text {
  return (indent) => {
    const inner = ' '.repeat(indent + 2)
    const lines = members.map(([name, text]) => {
      const start = `${inner}${propertyName(name)}: `
      const value = text(indent + 2, start.length)
      return `${value.startsWith('\n') ? start.trimEnd() : start}${value},\n`
    })
    return `{\n${lines.join('')}${' '.repeat(indent)}}`
  }
}

function propertyName(name: string): string {
  // The plain name would set the prototype.
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : dataToSource(name)
}

function versionOf(version: PlannedVersion): Text {
  return object([
    ...(version.storage ? [['storage', data(true)] satisfies Member] : []),
    ...(version.served ? [] : [['served', data(false)] satisfies Member]),
    ...(version.deprecated === false ? [] : [['deprecated', data(version.deprecated)] satisfies Member]),
    ...versionMembers(version),
  ])
}

function versionMembers(version: PlannedVersion): Member[] {
  const { description, spec, status, fields, rules, columns, selectableFields, scale } = version
  const members: Member[] = []
  if (description !== undefined) members.push(['description', prose(description)])
  if (version.preserveUnknownFields) members.push(['preserveUnknownFields', data(true)])
  if (spec !== undefined) members.push(['spec', field(spec)])
  if (status !== undefined) members.push(['status', field({ ...status, optional: false })])
  if (version.statusSubresource) members.push(['statusSubresource', data(true)])
  const further = Object.entries(fields)
  if (further.length > 0) members.push(['fields', object(further.map(([name, planned]) => [name, field(planned)]))])
  if (version.objectName !== undefined) members.push(['objectName', field(version.objectName)])
  if (rules.length > 0) members.push(['rules', data(rules)])
  if (columns.length > 0) {
    members.push(['columns', object(columns.map((column) => [column.name, data(shortColumn(column, version))]))])
  }
  if (selectableFields.length > 0) members.push(['selectableFields', data(selectableFields)])
  if (scale !== undefined) members.push(['scale', data(scale)])
  return members
}

// A text that does not fit is broken like an argument: on lines of its own.
const prose =
  (text: string): Text =>
  (indent, column) => {
    const flat = dataToSource(text, { indent, column })
    return flat.includes('\n') ? `\n${' '.repeat(indent + 2)}${dataToSource(text, { indent })}` : flat
  }

const field =
  ({ json, optional }: PlannedField): Text =>
  (indent, column) =>
    schemaToSource(json, { indent, column, optional })

/** A column, reduced to its path if the schema implies the rest. */
function shortColumn(column: PlannedVersion['columns'][number], version: PlannedVersion): unknown {
  const { type, jsonPath, ...more } = columnOptions(column)
  const sure = impliedType(jsonPath, version) === type
  return sure && Object.keys(more).length === 0 ? jsonPath : { jsonPath, ...(sure ? {} : { type }), ...more }
}

// Only for plain paths. Columns with other paths keep their types.
function impliedType(path: string, version: PlannedVersion): string | undefined {
  if (path === '.metadata.creationTimestamp') return 'date'
  if (!/^(\.[A-Za-z_]\w*)+$/.test(path)) return undefined
  const [root = '', ...rest] = path.slice(1).split('.')
  const start = root === 'spec' ? version.spec : root === 'status' ? version.status : version.fields[root]
  let schema: JSONSchemaProps | undefined = start?.json
  for (const name of rest) schema = schema?.properties?.[name]
  if (schema?.type === 'string') return schema.format === 'date-time' ? 'date' : 'string'
  return schema?.type === 'integer' || schema?.type === 'number' || schema?.type === 'boolean' ? schema.type : undefined
}
