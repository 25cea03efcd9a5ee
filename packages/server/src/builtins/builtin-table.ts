import type { BuiltinTable } from './builtin-resources.ts'

/** What each built-in resource adds: strategies, tables, selectors. */
export const builtinTable: BuiltinTable = {}
