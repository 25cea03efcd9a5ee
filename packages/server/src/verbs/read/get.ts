import { type ApiResponse, newBadRequest, newNotFound } from '@kubewright/api'
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
export async function get(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateObject(context, endpoint)
  const { resource, registry } = endpoint
  if (query.size > 0 && isTrue(query.get('export'))) {
    throw newBadRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  if (resource.computed) return getComputed(endpoint, context, resource.computed, representation)
  await reachRequestedVersion(endpoint, context)
  const found = await registry.find(resource, context.info.namespace, context.info.name)
  if (!found) throw newNotFound(endpoint.groupResource, context.info.name)
  const { view } = endpoint
  if (view?.check) view.check((await servedObject(resource, found)).object as MutableObject)
  return presentObject(200, endpoint, found, representation)
}

/** Waits for the resource version of the query: the response must be at least as new. */
async function reachRequestedVersion(endpoint: Endpoint, { request }: RequestContext): Promise<void> {
  const version = request.query.get('resourceVersion') ?? ''
  if (version === '') return
  const { registry, resource } = endpoint
  if (resource.storage.uncached) {
    requireReached(registry, versionNumber(version))
    return
  }
  const problem = versionProblem(version)
  if (problem !== undefined) throw unclassifiedError(problem)
  if (Number(version) > registry.feed.revision) await waitUntilFresh(registry, Number(version), request.signal)
}
