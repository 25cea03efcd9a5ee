import type { BuiltinTable } from '../builtins/builtin-resources.ts'
import { builtinTable } from '../builtins/builtin-table.ts'
import { crdResources } from '../crd/crd-strategy.ts'

/** The table of all resources that need no part of the server. */
export const allBuiltins: BuiltinTable = { ...builtinTable, ...crdResources }
