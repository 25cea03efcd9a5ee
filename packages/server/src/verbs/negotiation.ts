import { negotiate, type Representation, requireRoute } from '../request/negotiate.ts'

import type { RequestContext } from '../request/request-context.ts'
import type { Resource } from '../resource/resource.ts'

/** Picks the representation of one object of a resource. */
export function negotiateObject({ request }: RequestContext, { origin, virtual }: Resource): Representation {
  // Virtual resources support no Table or metadata conversion.
  const conversions = virtual === undefined
  return negotiate(request, {
    conversions,
    streams: false,
    protobuf: origin.supportsProtobuf,
    routed: origin.hasRoutes,
  })
}

/** Picks the representation of a list of objects of a resource. */
export function negotiateList({ request }: RequestContext, { origin }: Resource): Representation {
  return negotiate(request, {
    conversions: true,
    streams: true,
    protobuf: origin.supportsProtobuf,
    routed: origin.hasRoutes,
  })
}

/** Throws the 406 of the router, which precedes all other errors of list and watch. */
export function requireListRoute({ request }: RequestContext, { origin }: Resource): void {
  if (origin.hasRoutes) requireRoute(request, true)
}
