import type { JSONSchemaProps } from '@kubewright/schema'
import type { SchemaTypes } from './generated/schema-types.ts'
import { tableList } from './generated/table-list.ts'
import { publishedName, shortName } from './internal/definition-name.ts'
import { publishSchema } from './internal/publish-schema.ts'
import { resolveSchema } from './internal/resolve-schema.ts'
import type { SchemaTable } from './internal/schema-table.ts'

export type { SchemaTypes } from './generated/schema-types.ts'

/** The published names of parts of the built-in API, such as `io.k8s.api.core.v1.PodTemplateSpec`. */
export type SchemaName = keyof SchemaTypes

/** A schema with the TypeScript type that it describes. */
export type TypedSchema<T> = JSONSchemaProps & {
  /** Type only. */
  readonly $type?: T | undefined
}

/**
 * Returns the schema of a part of the built-in API with references resolved, for embedding in a custom resource.
 *
 * @example
 * const template = s.from<PodTemplateSpec>(schemaOf('io.k8s.api.core.v1.PodTemplateSpec'))
 */
export function schemaOf<N extends SchemaName>(name: N): TypedSchema<SchemaTypes[N]> {
  const { table, local } = locate(name)
  return resolveSchema(table, local)
}

/**
 * Returns the published names of all definitions, including kinds and lists, in the order of the published document.
 */
export function schemaNames(): readonly string[] {
  return tableList.flatMap((table) => [...table.names()].map((local) => publishedName(table.key, local))).sort()
}

/** Returns a definition as a component of /openapi/v3, with references in place and without descriptions. */
export function openApiV3Schema(name: string): JSONSchemaProps {
  const { table, local } = locate(name)
  return publishSchema(table, local, 'v3')
}

/** Returns a definition of /openapi/v2, with references in place and without descriptions. */
export function openApiV2Schema(name: string): JSONSchemaProps {
  const { table, local } = locate(name)
  return publishSchema(table, local, 'v2')
}

function locate(name: string): { readonly table: SchemaTable; readonly local: string } {
  const short = shortName(name)
  const table = short && tableList.find((t) => t.key === short.table)
  if (short === undefined || table === undefined || !table.has(short.local)) {
    throw new RangeError(`Cannot find a schema: ${name} is not built in; schemaNames() lists the built-in schemas`)
  }
  return { table, local: short.local }
}
