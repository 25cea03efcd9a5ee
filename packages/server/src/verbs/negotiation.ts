import { negotiate, type Representation, requireRoute } from '../request/negotiate.ts'

import type { RequestContext } from '../request/request-context.ts'
import type { Resource } from '../resource/resource.ts'
import type { Endpoint } from './endpoint.ts'

/** Picks the representation of one object of a resource, or of what a subresource shows of it. */
export function negotiateObject({ request }: RequestContext, { resource, subresource }: Endpoint): Representation {
  const { origin, release, virtual } = resource
  const hasTable =
    virtual === undefined && (subresource === '' || resource.subresources[subresource]?.hasTable !== false)
  return negotiate(
    request,
    {
      conversions: hasTable ? 'all' : 'metadata',
      streams: false,
      protobuf: origin.supportsProtobuf,
      routed: origin.hasRoutes,
    },
    release,
  )
}

/** Picks the representation of a list of objects of a resource. */
export function negotiateList({ request }: RequestContext, { origin, release }: Resource): Representation {
  return negotiate(
    request,
    { conversions: 'all', streams: true, protobuf: origin.supportsProtobuf, routed: origin.hasRoutes },
    release,
  )
}

/** Throws the 406 of the router, which precedes all other errors of list and watch. */
export function requireListRoute({ request }: RequestContext, { origin }: Resource): void {
  if (origin.hasRoutes) requireRoute(request, true)
}
