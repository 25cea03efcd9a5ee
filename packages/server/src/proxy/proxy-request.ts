import { type ApiResponse, newBadRequest, newServiceUnavailable } from '@kubewright/api'
import { linkSignals } from '@kubewright/base'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { type Backend, urlOf } from './backend.ts'
import { forwardedHeaders, isUpgrade } from './proxy-headers.ts'
import { passOn } from './proxy-response.ts'
import { rewritePage } from './rewrite-html.ts'
import { rewriteLocation } from './rewrite-location.ts'

/** Request bodies are buffered in memory. */
const maxBodyBytes = 64 * 1024 * 1024

/**
 * Proxies a request of the subresource `proxy`: the path after it and the query go to the backend, upgrades included
 * (apimachinery/pkg/util/proxy/upgradeaware.go). Redirects of the backend to itself, and links of its pages, lead through the proxy.
 */
export async function proxyRequest(
  outgoing: Outgoing,
  context: RequestContext,
  backend: Backend,
): Promise<ApiResponse> {
  const { request } = context
  const path = pathBelow(context)
  const upgrade = isUpgrade(context)
  const search = request.query.size === 0 ? '' : `?${request.query}`
  // A relative link of the root page would otherwise refer to a sibling of the proxy.
  if (!upgrade && path === '' && (request.method === 'GET' || request.method === 'HEAD')) {
    return { status: 301, headers: { location: `${request.path}/${search}` } }
  }
  const response = await send(outgoing, context, backend, `${path}${search}`).catch((error: unknown) => {
    throw dialError(error, request.signal, upgrade)
  })
  const prefix = request.path.slice(0, request.path.length - path.length)
  const host = request.headers[':authority'] ?? request.headers['host'] ?? ''
  const rewrite = (url: string): string => rewriteLocation(url, { backend, host, prefix })
  const { location } = response.headers
  if (typeof location !== 'string') return rewritePage(response, rewrite)
  return { ...response, headers: { ...response.headers, location: rewrite(location) } }
}

/** Proxies a request that must upgrade its connection, such as exec, to a path of a kubelet. */
export async function proxyUpgrade(
  outgoing: Outgoing,
  context: RequestContext,
  backend: Backend,
  target: string,
): Promise<ApiResponse> {
  requireUpgrade(context)
  return send(outgoing, context, backend, target).catch((error: unknown) => {
    throw dialError(error, context.request.signal, true)
  })
}

/** Throws 400 unless the request asks for an upgrade. */
export function requireUpgrade(context: RequestContext): void {
  if (!isUpgrade(context)) throw newBadRequest('Upgrade request required')
}

async function send(
  outgoing: Outgoing,
  context: RequestContext,
  backend: Backend,
  target: string,
): Promise<ApiResponse> {
  const { request } = context
  const upgrade = isUpgrade(context)
  const bodiless = upgrade || request.method === 'GET' || request.method === 'HEAD'
  // Must be disposed on every path: after the body, after an upgraded connection, or on failure.
  const link = linkSignals(request.signal)
  try {
    const response = await outgoing({
      method: request.method,
      url: urlOf(backend, '/'),
      target: target.startsWith('/') ? target : `/${target}`,
      headers: {
        ...forwardedHeaders(context),
        ...(upgrade ? { connection: 'Upgrade', upgrade: request.headers['upgrade'] ?? '' } : {}),
      },
      body: bodiless ? undefined : await request.body(maxBodyBytes),
      upgrade,
      tls: backend.tls,
      signal: link.signal,
    })
    return passOn(response, request.signal, () => link[Symbol.dispose]())
  } catch (error) {
    link[Symbol.dispose]()
    throw error
  }
}

function dialError(error: unknown, signal: AbortSignal, upgrade: boolean): unknown {
  if (signal.aborted) return signal.reason
  const { message } = error as Error
  return upgrade
    ? unclassifiedError(`error dialing backend: ${message}`)
    : newServiceUnavailable(`error trying to reach service: ${message}`)
}

/** The path after `proxy`, percent-encoded: empty, or starting with a slash. */
function pathBelow({ info, request }: RequestContext): string {
  const rest = info.parts.slice(3).join('/')
  if (rest === '') return request.path.endsWith('/') ? '/' : ''
  const path = `/${rest}${request.path.endsWith('/') ? '/' : ''}`
  return encodeURI(path).replace(/[?#]/g, (char) => encodeURIComponent(char))
}
