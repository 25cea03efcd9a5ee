import { builtinResources } from '../builtins/builtin-resources.ts'
import { coreServerResources } from '../builtins/core/core-resources.ts'
import { mergeBuiltinTables } from '../builtins/merge-builtin-tables.ts'
import { allBuiltins } from './all-builtins.ts'
import { PlainServer } from './plain-server.ts'

/** A plain server whose kinds behave as they do in a cluster. */
export function startCoreServer(): Promise<PlainServer> {
  return PlainServer.start({}, async (parts) => {
    const table = mergeBuiltinTables(allBuiltins, coreServerResources(parts))
    for (const resource of builtinResources(table)) parts.resources.set(resource)
    return undefined
  })
}
