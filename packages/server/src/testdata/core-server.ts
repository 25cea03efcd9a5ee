import { builtinResources } from '../builtins/builtin-resources.ts'
import { allBuiltins } from './all-builtins.ts'
import { PlainServer } from './plain-server.ts'

/** Starts a plain server with all built-in resources, but without access control. */
export function startCoreServer(): Promise<PlainServer> {
  return PlainServer.start([], async (parts) => {
    for (const resource of builtinResources(allBuiltins, parts)) parts.resources.set(resource)
    return undefined
  })
}
