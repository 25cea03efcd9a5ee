import type { Store } from '@kubewright/storage'
import type { ServerParts } from '../api-server.ts'
import { builtinResources } from '../builtins/builtin-resources.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import { allBuiltins } from './all-builtins.ts'
import { PlainServer } from './plain-server.ts'

/** Starts a plain server with all built-in resources, but without access control. Servers on one store need different seeds. */
export function startCoreServer(store?: Store, seed?: number): Promise<PlainServer> {
  const setup = async (parts: ServerParts): Promise<undefined> => {
    for (const resource of builtinResources(defaultServedRelease, allBuiltins, parts)) parts.resources.set(resource)
  }
  return PlainServer.start([], setup, store, seed)
}
