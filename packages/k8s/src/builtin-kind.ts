import type { Kind, KindDefinition } from '@kubewright/api'
import { createKind } from '@kubewright/api/kind'
import { resolveSchema } from './internal/resolve-schema.ts'
import type { SchemaTable } from './internal/schema-table.ts'

/** What a generated module says about one of its kinds. */
export type BuiltinFacts = Omit<KindDefinition, 'schema'>

/**
 * Makes the value of a built-in kind out of its facts and the table that holds its schema. Until the schema is read, a kind costs one
 * closure; all kinds share what they have in common, so the schema of a second one is cheaper than that of the first.
 */
export function builtinKind<Read, Write, Status>(table: SchemaTable, facts: BuiltinFacts): Kind<Read, Write, Status> {
  return createKind<Read, Write, Status>({ ...facts, schema: () => resolveSchema(table, facts.kind) })
}
