import { ApiError, type ApiRequest, type ApiResponse } from '@kubewright/api'
import { trimEnd } from '@kubewright/base'
import { negotiate, type Representation, servedTypes } from '../request/negotiate.ts'
import type { PathHandler } from '../request/path-handler.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respond, respondText } from '../request/respond.ts'
import type { DiscoveryIndex } from './discovery-index.ts'
import { isBuiltinGroup } from './group-priority.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './legacy-discovery.ts'

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * Serves /api, /apis and the discovery documents below them. Also responds to requests for resources of unknown groups, because
 * kube-apiserver has no handler for them that knows kinds.
 */
export function discoveryPaths(index: DiscoveryIndex): PathHandler {
  return (context) => {
    const { info } = context
    if (info.path.startsWith('/apis//')) return notFoundPage()
    if (info.isResource) return unknownGroup(index, info.group)
    const parts = trimEnd(info.path, '/').split('/').slice(1)
    if (parts[0] === 'api') return core(index, context, parts)
    if (parts[0] !== 'apis') return undefined
    const [, group, version] = parts
    if (group === undefined) return groupList(index, context)
    return parts.length > 3 ? unknownGroup(index, group) : below(index, context, group, version)
  }
}

function core(index: DiscoveryIndex, { request }: RequestContext, parts: readonly string[]): ApiResponse | undefined {
  if (parts.length > 2) return undefined
  const version = parts[1]
  const found = version === undefined ? undefined : index.find('', version)
  if (version !== undefined && !found) throw failure(404)
  if (request.method !== 'GET') throw failure(405)
  if (!found) {
    if (wantsAggregated(request)) return aggregated(index, 'core', request)
    const versions = index.groups.get('')?.versions.map((found) => found.version) ?? []
    return respond(200, apiVersions(versions, addressOf(request)), routed(request))
  }
  return respond(200, apiResourceList('', found), routed(request))
}

function groupList(index: DiscoveryIndex, { request }: RequestContext): ApiResponse {
  // kube-apiserver has another handler, without aggregated discovery, for /apis/.
  if (request.path === '/apis' && wantsAggregated(request)) return aggregated(index, 'groups', request)
  const groups = [...index.listed.values()].filter(({ name }) => name !== '')
  return respond(200, apiGroupList(groups), plain(request))
}

function below(
  index: DiscoveryIndex,
  { request }: RequestContext,
  name: string,
  version: string | undefined,
): ApiResponse {
  if (version === undefined) {
    const listed = index.listed.get(name)
    return listed ? respond(200, apiGroup(listed), plain(request)) : notFoundPage()
  }
  const group = index.groups.get(name)
  if (!group) return notFoundPage()
  const found = group.versions.find((candidate) => candidate.version === version)
  if (!found) {
    if (isBuiltinGroup(name)) throw failure(404)
    return notFoundPage()
  }
  if (!isBuiltinGroup(name)) return respond(200, apiResourceList(name, found), plain(request))
  if (request.method !== 'GET') throw failure(405)
  return respond(200, apiResourceList(name, found), routed(request))
}

/** The plain 404 of unknown groups. Known and built-in groups return undefined, and the dispatcher responds with a Status. */
function unknownGroup(index: DiscoveryIndex, group: string): ApiResponse | undefined {
  return index.has(group) || isBuiltinGroup(group) ? undefined : notFoundPage()
}

function notFoundPage(): ApiResponse {
  return respondText(404, '404 page not found\n')
}

/** Whether the first supported media type of the Accept header is aggregated discovery. Only JSON supports it. */
function wantsAggregated({ headers }: ApiRequest): boolean {
  const ranges = (headers['accept'] ?? '').split(',').map((range) => {
    const [type = '', ...rest] = range.split(';').map((part) => part.trim())
    const parameters = new Map(rest.map((part) => part.split('=', 2) as [string, string]))
    return { type, parameters, quality: Number(parameters.get('q') ?? 1) }
  })
  for (const { type, parameters } of ranges.sort((a, b) => b.quality - a.quality)) {
    if (!servedTypes.includes(type) && type !== '*/*' && type !== 'application/*') continue
    if (type === 'application/vnd.kubernetes.protobuf') continue
    const as = parameters.get('as')
    if (as === undefined) return false
    if (as !== 'APIGroupDiscoveryList' || parameters.get('g') !== 'apidiscovery.k8s.io') continue
    if (parameters.get('v') === 'v2') return true
  }
  return false
}

function aggregated(index: DiscoveryIndex, part: 'core' | 'groups', request: ApiRequest): ApiResponse {
  const { bytes, etag } = index.aggregated(part)
  const quoted = `"${etag}"`
  const cached = { etag: quoted, vary: 'Accept', 'cache-control': 'public' }
  if (request.headers['if-none-match'] === quoted) return { status: 304, headers: cached }
  const headers = { ...cached, 'content-type': aggregatedType, 'content-length': String(bytes.length) }
  return { status: 200, headers, body: bytes }
}

/** For paths behind the router, whose error text differs. */
function routed(request: ApiRequest): Representation {
  return negotiate(request, { conversions: 'none', streams: false })
}

/** For paths in front of the router, where only the serializer rejects media types. */
function plain(request: ApiRequest): Representation {
  return negotiate(request, { conversions: 'none', streams: false, routed: false })
}

function addressOf({ headers }: ApiRequest): string {
  return headers[':authority'] ?? headers['host'] ?? 'localhost'
}

function failure(code: 404 | 405): ApiError {
  const [reason, message] =
    code === 404
      ? (['NotFound', 'the server could not find the requested resource'] as const)
      : (['MethodNotAllowed', 'the server does not allow this method on the requested resource'] as const)
  const metadata = {}
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    reason,
    details: {},
    code,
  })
}
