import { isDNS1035Label, isDNS1123Subdomain } from '@kubewright/base'
import type { Fields, JSONSchemaProps } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { parseSimplePath, schemaAt } from '../json-path/simple-path.ts'
import { columnSchema } from './column-schema.ts'
import type { ResolvedColumn } from './resolved-resource.ts'
import type { AnySchema, Column, OneOfVersions, ResourceNames } from './resource-definition.ts'

const reservedFields = ['apiVersion', 'kind', 'metadata', 'spec', 'status']
const columnTypes = ['integer', 'number', 'string', 'boolean', 'date']
// As in apiextensions/validation.go.
const maxSelectableFields = 8

/** Checks the names that all versions share. Throws a TypeError that names the field, its value and the expected form. */
export function checkNames(names: ResourceNames): void {
  const { group, kind } = names
  const fail = failFor(kind)
  const isNamed = names.external
    ? isDNS1035Label(kind.toLowerCase()).length === 0
    : /^[A-Z][A-Za-z0-9]*$/.test(kind) && kind.length <= 63
  if (!isNamed) {
    fail(`kind must be a CamelCase name of at most 63 characters, such as "Home": ${JSON.stringify(kind)}`)
  }
  if (isDNS1123Subdomain(group).length > 0 || !group.includes('.')) {
    fail(`group must be a domain with a dot, such as "homes.example.com": ${JSON.stringify(group)}`)
  }
  const label = (field: string, value: string): void => {
    if (isDNS1035Label(value).length > 0) {
      fail(
        `${field} must consist of lower case letters, digits and dashes and start with a letter: ${JSON.stringify(value)}`,
      )
    }
  }
  if (names.plural !== undefined) label('plural', names.plural)
  if (names.singular !== undefined) label('singular', names.singular)
  for (const name of names.shortNames ?? []) label('shortNames', name)
  for (const name of names.categories ?? []) label('categories', name)
  if (names.listKind === kind) fail(`listKind must differ from kind: ${JSON.stringify(kind)}`)
}

/**
 * Checks one version against its schema and returns its columns with their types. Throws a TypeError for a mistake. For
 * an external definition it enforces only the rules that API servers enforce.
 */
export function checkVersion(
  where: string,
  name: string,
  version: OneOfVersions<AnySchema, AnySchema, Fields>,
  schema: JSONSchemaProps,
  external: boolean,
): ResolvedColumn[] {
  const fail = failFor(where)
  if (isDNS1035Label(name).length > 0) {
    fail(`version must consist of lower case letters and digits, such as "v1" or "v1beta1": ${JSON.stringify(name)}`)
  }
  for (const field of Object.keys(version.fields ?? {})) {
    if (reservedFields.includes(field) && !(field === 'status' && version.status === undefined))
      fail(`fields must not contain "${field}", which is built in or has its own option`)
    if (field === 'status' && version.statusSubresource)
      fail('fields must not contain "status" together with statusSubresource; use the option status instead')
  }
  const nameType = version.objectName?.json.type ?? 'string'
  if (nameType !== 'string') fail(`objectName must be a string schema, such as s.string(): current type is ${nameType}`)
  for (const path of version.selectableFields ?? []) checkSelectable(path, schema, fail)
  if ((version.selectableFields?.length ?? 0) > maxSelectableFields) {
    fail(`selectableFields must have at most ${maxSelectableFields} items: ${version.selectableFields?.length}`)
  }
  if (version.scale !== undefined) {
    const { specReplicasPath, statusReplicasPath, labelSelectorPath } = version.scale
    const known = external ? undefined : schema
    checkScale('specReplicasPath', specReplicasPath, 'spec', 'integer', known, fail)
    checkScale('statusReplicasPath', statusReplicasPath, 'status', 'integer', known, fail)
    if (labelSelectorPath !== undefined) checkScale('labelSelectorPath', labelSelectorPath, '', 'string', known, fail)
  }
  return Object.entries(version.columns ?? {}).map(([title, column]) => {
    const isComplete = typeof column === 'object' && column.type !== undefined
    return resolveColumn(title, column, external && isComplete ? undefined : schema, fail)
  })
}

type Fail = (problem: string) => never

function failFor(what: string): Fail {
  return (problem) => {
    throw new TypeError(`Cannot define resource ${what}: ${problem}`)
  }
}

/** Resolves a column and its type. Without a schema, the path is not checked. */
function resolveColumn(
  title: string,
  column: string | Column,
  schema: JSONSchemaProps | undefined,
  fail: Fail,
): ResolvedColumn {
  const { jsonPath, type, format, description, priority } =
    typeof column === 'string' ? ({ jsonPath: column } as Column) : column
  if (!jsonPath.startsWith('.'))
    fail(`columns.${title} must be a path that starts with a dot: ${JSON.stringify(jsonPath)}`)
  let found: JSONSchemaProps | undefined
  try {
    found = schema === undefined ? {} : columnSchema(schema, jsonPath)
  } catch (error) {
    if (!(error instanceof ApiSyntaxError)) throw error
    fail(`columns.${title} is not a valid JSONPath (${error.message}): ${JSON.stringify(jsonPath)}`)
  }
  if (found === undefined) {
    fail(
      `columns.${title} points to a field that is not in the schema; correct the path or add the field: ${JSON.stringify(jsonPath)}`,
    )
  }
  if (type !== undefined && !columnTypes.includes(type)) {
    fail(`columns.${title}.type must be one of ${columnTypes.join(', ')}: ${JSON.stringify(type)}`)
  }
  return {
    ...(description === undefined ? {} : { description }),
    ...(format === undefined ? {} : { format }),
    jsonPath,
    name: title,
    ...(priority === undefined || priority === 0 ? {} : { priority }),
    type: type ?? columnType(found),
  }
}

// Lists and objects are printed as JSON text.
function columnType(schema: JSONSchemaProps): string {
  if (schema.type === 'string' && schema.format === 'date-time') return 'date'
  return columnTypes.includes(schema.type ?? '') ? schema.type! : 'string'
}

function simplePath(field: string, path: string, fail: Fail): string[] {
  try {
    return parseSimplePath(path)
  } catch (error) {
    if (!(error instanceof ApiSyntaxError)) throw error
    return fail(`${field} ${error.message}, such as ".spec.name": ${JSON.stringify(path)}`)
  }
}

function checkSelectable(path: string, schema: JSONSchemaProps, fail: Fail): void {
  const names = simplePath('selectableFields', path, fail)
  if (names[0] === 'metadata') {
    fail(`selectableFields must not point to fields of metadata, which can always be selected: ${JSON.stringify(path)}`)
  }
  const type = schemaAt(schema, names)?.type
  if (type === undefined) {
    fail(
      `selectableFields points to a field that is not in the schema; correct the path or add the field: ${JSON.stringify(path)}`,
    )
  }
  if (type !== 'string' && type !== 'boolean' && type !== 'integer') {
    fail(`selectableFields must point to a string, boolean or integer, not to ${type}: ${JSON.stringify(path)}`)
  }
}

function checkScale(
  option: string,
  path: string,
  root: string,
  type: string,
  schema: JSONSchemaProps | undefined,
  fail: Fail,
): void {
  const field = `scale.${option}`
  const names = simplePath(field, path, fail)
  if (root !== '' && names[0] !== root) fail(`${field} must be below .${root}: ${JSON.stringify(path)}`)
  if (root === '' && names[0] !== 'spec' && names[0] !== 'status') {
    fail(`${field} must be below .spec or .status: ${JSON.stringify(path)}`)
  }
  if (schema === undefined) return
  const found = schemaAt(schema, names)
  if (found === undefined)
    fail(
      `${field} points to a field that is not in the schema; correct the path or add the field: ${JSON.stringify(path)}`,
    )
  if (found.type !== type)
    fail(`${field} must point to a field of type ${type}, not ${found.type ?? 'any'}: ${JSON.stringify(path)}`)
}
