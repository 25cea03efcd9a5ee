import type { JSONSchemaProps } from '@kubewright/schema'
import type { SchemaTypes } from './generated/schema-types.ts'
import { tableList } from './generated/table-list.ts'
import { publishedName, shortName } from './internal/definition-name.ts'
import { publishSchema } from './internal/publish-schema.ts'
import { resolveSchema } from './internal/resolve-schema.ts'
import type { SchemaTable } from './internal/schema-table.ts'

export type { SchemaTypes } from './generated/schema-types.ts'

/** Published names of the parts that kinds are made of, such as `io.k8s.api.core.v1.PodTemplateSpec`. */
export type SchemaName = keyof SchemaTypes

/** A schema that remembers which TypeScript type it describes. */
export type TypedSchema<T> = JSONSchemaProps & {
  /** Type only. */
  readonly $type?: T
}

/**
 * The schema of a part of the built-in API, references resolved, as a field of a custom resource can take it over.
 *
 * @example
 * const template = s.from<PodTemplateSpec>(schemaOf('io.k8s.api.core.v1.PodTemplateSpec'))
 */
export function schemaOf<N extends SchemaName>(name: N): TypedSchema<SchemaTypes[N]> {
  const { table, local } = locate(name)
  return resolveSchema(table, local)
}

/** Published names of all definitions, kinds and lists included, in the order of the published document. */
export function schemaNames(): readonly string[] {
  return tableList.flatMap((table) => [...table.names()].map((local) => publishedName(table.key, local))).sort()
}

/** A definition as a component of /openapi/v3, references left in place; prose is not included. */
export function openApiV3Schema(name: string): JSONSchemaProps {
  const { table, local } = locate(name)
  return publishSchema(table, local, 'v3')
}

/** A definition as /openapi/v2 has it, references left in place; prose is not included. */
export function openApiV2Schema(name: string): JSONSchemaProps {
  const { table, local } = locate(name)
  return publishSchema(table, local, 'v2')
}

function locate(name: string): { readonly table: SchemaTable; readonly local: string } {
  const short = shortName(name)
  const table = short && tableList.find((t) => t.key === short.table)
  if (short === undefined || table === undefined || !table.has(short.local)) {
    throw new RangeError(`Cannot find a schema: ${name} is not built in; schemaNames() lists what is`)
  }
  return { table, local: short.local }
}
