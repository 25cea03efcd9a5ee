import type { Kind, KindDefinition } from '@kubewright/api'
import { createKind } from '@kubewright/api/kind'
import { resolveSchema } from './internal/resolve-schema.ts'
import type { SchemaTable } from './internal/schema-table.ts'

/** The facts about a kind in a generated module. */
export type BuiltinFacts = Omit<KindDefinition, 'schema'>

/**
 * Creates a built-in kind from its facts and the table with its schema. Until the schema is read, a kind costs one
 * closure. Kinds share the schemas of common parts, so the schema of a second kind is cheaper than that of the first.
 */
export function builtinKind<Read, Write, Status>(table: SchemaTable, facts: BuiltinFacts): Kind<Read, Write, Status> {
  return createKind<Read, Write, Status>({ ...facts, schema: () => resolveSchema(table, facts.kind) })
}
