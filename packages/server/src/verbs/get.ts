import { newNotFound } from '@kubewright/api'
import type { ApiResponse } from '../http/api-request.ts'
import { negotiate } from '../http/negotiate.ts'
import type { RequestContext } from '../request-context.ts'
import type { Endpoint } from './endpoint.ts'
import { presentObject } from './present.ts'

/** Answers a get of one object, or of a subresource that shows it. */
export async function get(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query, headers } = context.request
  const representation = negotiate(headers['accept'], query, headers['user-agent'] ?? '', {
    conversions: true,
    streams: false,
  })
  const { resource, registry } = endpoint
  const found = await registry.find(resource, context.info.namespace, context.info.name)
  if (!found) throw newNotFound(endpoint.groupResource, context.info.name)
  return presentObject(200, resource, endpoint.subresource, found, representation, registry.clock.now())
}
