import type { JSONSchemaProps } from '@kubewright/schema'
import type { SchemaTypes } from './generated/schema-types.ts'
import { tableList } from './generated/table-list.ts'
import { publishedName, shortName } from './internal/definition-name.ts'
import { resolveSchema } from './internal/resolve-schema.ts'

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
  const short = shortName(name)
  const table = short && tableList.find((t) => t.key === short.table)
  if (short === undefined || !table?.has(short.local)) {
    throw new RangeError(`Cannot find a schema: ${name} is not built in; schemaNames() lists the built-in schemas`)
  }
  return resolveSchema(table, short.local)
}

/**
 * Returns the published names of all definitions, including kinds and lists, in the order of the published document.
 */
export function schemaNames(): readonly string[] {
  return tableList.flatMap((table) => [...table.names()].map((local) => publishedName(table.key, local))).sort()
}
