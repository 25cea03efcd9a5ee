import { type ApiResponse, newBadRequest, newNotFound } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import { isTrue } from '../request/request-info.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Endpoint } from './endpoint.ts'
import { waitUntilFresh } from './list.ts'
import { versionProblem } from './list-options.ts'
import { negotiateObject } from './negotiation.ts'
import { presentObject } from './present.ts'

/** Answers a get of one object, or of a subresource that shows it. */
export async function get(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateObject(context, endpoint.resource)
  const { resource, registry } = endpoint
  if (query.size > 0 && isTrue(query.get('export'))) {
    throw newBadRequest('the export parameter, deprecated since v1.14, is no longer supported')
  }
  await reachVersion(endpoint, context)
  const found = await registry.find(resource, context.info.namespace, context.info.name)
  if (!found) throw newNotFound(endpoint.groupResource, context.info.name)
  const { view } = endpoint
  if (view?.check) view.check((await servedObject(resource, found)).object as MutableObject)
  return presentObject(200, endpoint, found, representation)
}

/** A version in the query asks for an object that is at least as new. */
async function reachVersion(endpoint: Endpoint, { request }: RequestContext): Promise<void> {
  const version = request.query.get('resourceVersion') ?? ''
  if (version === '') return
  const problem = versionProblem(version)
  if (problem !== undefined) throw unclassifiedError(problem)
  if (Number(version) > endpoint.registry.feed.revision) {
    await waitUntilFresh(endpoint, Number(version), request.signal)
  }
}
