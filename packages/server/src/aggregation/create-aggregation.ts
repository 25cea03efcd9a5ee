import type { DiscoveryIndex } from '../discovery/discovery-index.ts'
import { type Outgoing, systemOutgoing } from '../outgoing/outgoing.ts'
import { endpointResolver, type ServiceResolver } from '../outgoing/service-resolver.ts'
import { ObjectLookup } from '../registry/object-lookup.ts'
import type { PathHandler } from '../request/path-handler.ts'
import type { AggregationParts } from './aggregation-parts.ts'
import { ApiServiceController } from './api-service-controller.ts'
import { ExtensionServers } from './extension-servers.ts'
import type { FrontProxyIdentity } from './front-proxy.ts'
import { RemoteApiServices } from './remote-api-services.ts'

/** Options of {@link createAggregation}. */
export interface AggregationOptions {
  /** @default real connections */
  readonly outgoing?: Outgoing | undefined
  /** Resolves services to addresses. @default one of their endpoints, or their external name */
  readonly resolveService?: ServiceResolver | undefined
}

/** API aggregation: requests for group versions whose APIService names a service are proxied to the extension server behind it. */
export interface Aggregation {
  readonly controller: ApiServiceController
  /** Proxies requests to extension servers. */
  readonly paths: PathHandler
}

/** Creates the aggregation of a server. Nothing happens before the controller is started. */
export function createAggregation(
  parts: AggregationParts,
  discovery: DiscoveryIndex | undefined,
  options: AggregationOptions & { readonly frontProxy?: FrontProxyIdentity | undefined } = {},
): Aggregation {
  const lookup = new ObjectLookup(parts)
  const { outgoing = systemOutgoing, resolveService = endpointResolver(lookup, parts.random), frontProxy } = options
  const servers = new ExtensionServers({ outgoing, resolveService, clock: parts.clock, frontProxy })
  const remote = new RemoteApiServices({ parts, lookup, servers, discovery })
  return { controller: new ApiServiceController(parts, lookup, remote, discovery), paths: remote.paths }
}
