import { builtinResources } from '../builtins/builtin-resources.ts'
import { coreServerResources } from '../builtins/core/core-resources.ts'
import { mergeBuiltinTables } from '../builtins/merge-builtin-tables.ts'
import { allBuiltins } from './all-builtins.ts'
import { PlainServer } from './plain-server.ts'

/** Starts a plain server with the complete core group. */
export function startCoreServer(): Promise<PlainServer> {
  return PlainServer.start({}, async (parts) => {
    const table = mergeBuiltinTables(allBuiltins, coreServerResources(parts))
    for (const resource of builtinResources(table)) parts.resources.set(resource)
    return undefined
  })
}
