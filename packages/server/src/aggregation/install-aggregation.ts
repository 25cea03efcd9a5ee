import type { ServerParts } from '../api-server.ts'
import type { DiscoveryIndex } from '../discovery/discovery-index.ts'
import { type Outgoing, systemOutgoing } from '../outgoing/outgoing.ts'
import { endpointResolver, type ServiceResolver } from '../outgoing/service-resolver.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import { ApiServiceController } from './api-service-controller.ts'
import { ExtensionServers } from './extension-servers.ts'
import type { FrontProxyIdentity } from './front-proxy.ts'
import { RemoteApiServices } from './remote-api-services.ts'

/** What {@link installAggregation} takes. */
export interface AggregationOptions {
  /** @default over real connections */
  readonly outgoing?: Outgoing | undefined
  /** Where services are. @default one of their endpoints, or their external name */
  readonly resolveService?: ServiceResolver | undefined
}

/** Adds API aggregation to a server: requests for group versions that an APIService gives to another server go there. */
export function installAggregation(
  parts: ServerParts,
  discovery: DiscoveryIndex | undefined,
  options: AggregationOptions & { readonly frontProxy?: FrontProxyIdentity | undefined } = {},
): ApiServiceController {
  const lookup = new ObjectLookup(parts)
  const { outgoing = systemOutgoing, resolveService = endpointResolver(lookup, parts.random), frontProxy } = options
  const servers = new ExtensionServers({ outgoing, resolveService, clock: parts.clock, frontProxy })
  const remote = new RemoteApiServices({ parts, lookup, servers, discovery })
  parts.paths.push(remote.paths)
  return new ApiServiceController(parts, lookup, remote, discovery)
}
