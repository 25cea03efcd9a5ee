import type { BuiltinTable } from './builtin-resources.ts'
import { builtins } from './builtins.ts'

/** The definitions by `group/plural`, or by `group/version/plural`. */
export const builtinTable: BuiltinTable = Object.fromEntries(
  builtins.map(({ group, version, resource, ...own }) => [
    version === undefined ? `${group}/${resource}` : `${group}/${version}/${resource}`,
    own,
  ]),
)
