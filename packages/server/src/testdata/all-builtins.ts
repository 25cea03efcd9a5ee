import { builtins } from '../builtins/builtins.ts'
import type { BuiltinDefinition } from '../builtins/define-builtin.ts'
import { customResourceDefinitions } from '../crd/definitions/crd-strategy.ts'

/** The definitions of all built-in resources, including CustomResourceDefinitions. */
export const allBuiltins: readonly BuiltinDefinition[] = [...builtins, customResourceDefinitions]
