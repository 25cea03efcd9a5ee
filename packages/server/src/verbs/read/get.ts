import { type ApiResponse, newBadRequest, newNotFound } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import { andThen } from '../../request/awaitable.ts'
import type { Representation } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { isTrue } from '../../request/request-info.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import { servedObject } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Endpoint } from '../endpoint.ts'
import { negotiateObject } from '../negotiation.ts'
import { presentObject } from '../present.ts'
import { requireReached, waitUntilFresh } from './freshness.ts'
import { versionNumber, versionProblem } from './list-options.ts'
import { getComputed } from './read-computed.ts'

/** Handles get requests for an object, or for the view of it that a subresource shows. */
export function get(endpoint: Endpoint, context: RequestContext): Awaitable<ApiResponse> {
  const { query } = context.request
  const representation = negotiateObject(context, endpoint)
  const { resource } = endpoint
  if (query.size > 0 && isTrue(query.get('export'))) {
    throw newBadRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  if (resource.computed) return getComputed(endpoint, context, resource.computed, representation)
  const version = query.get('resourceVersion') ?? ''
  if (version === '') return respondFound(endpoint, context, representation)
  return reachVersion(endpoint, context, version).then(() => respondFound(endpoint, context, representation))
}

function respondFound(
  endpoint: Endpoint,
  { info }: RequestContext,
  representation: Representation,
): Awaitable<ApiResponse> {
  const { resource, registry, view } = endpoint
  return andThen(registry.find(resource, info.namespace, info.name), (found) => {
    if (!found) throw newNotFound(endpoint.groupResource, info.name)
    if (!view?.check) return presentObject(200, endpoint, found, representation)
    return andThen(servedObject(resource, found), (served) => {
      view.check!(served.object as MutableObject)
      return presentObject(200, endpoint, found, representation)
    })
  })
}

/** Waits for the resource version of the query: the response must be at least as new. */
async function reachVersion(endpoint: Endpoint, { request }: RequestContext, version: string): Promise<void> {
  const { registry, resource } = endpoint
  if (resource.storage.uncached) {
    requireReached(registry, versionNumber(version))
    return
  }
  const problem = versionProblem(version)
  if (problem !== undefined) throw unclassifiedError(problem)
  if (Number(version) > registry.feed.revision) await waitUntilFresh(registry, Number(version), request.signal)
}
