import type { ApiResponse } from '@kubewright/api'
import { linkSignals, trim } from '@kubewright/base'
import { forwardedHeaders, isUpgrade } from '../proxy/proxy-headers.ts'
import { passOn } from '../proxy/proxy-response.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respondText } from '../request/respond.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { type ExtensionServers, UnresolvedService } from './extension-servers.ts'

/** Request bodies are buffered in memory. Extension servers have lower limits of their own. */
const maxBodyBytes = 64 * 1024 * 1024
/** Clients read discovery first, so a slow extension server must not block it for long. */
const discoveryTimeout = 5000

/** Proxies a request to an extension server on behalf of its user and streams the response. */
export async function proxyRequest(
  servers: ExtensionServers,
  service: RemoteApiService,
  context: RequestContext,
): Promise<ApiResponse> {
  const { request, user } = context
  const query = new URLSearchParams(request.query)
  query.sort()
  const search = query.toString()
  const upgrade = isUpgrade(context)
  const bodiless = upgrade || request.method === 'GET' || request.method === 'HEAD'
  // Must be disposed on every path: after the body, after an upgraded connection, or on failure.
  const link = linkSignals(request.signal)
  const timer = isDiscovery(context)
    ? servers.clock.setTimer(
        discoveryTimeout,
        () => link.abort(new Error('context deadline exceeded')),
        'discovery of an extension server',
      )
    : undefined
  try {
    const response = await servers.send(service, {
      method: request.method,
      target: search === '' ? request.path : `${request.path}?${search}`,
      user,
      headers: {
        ...forwardedHeaders(context),
        ...(upgrade ? { connection: 'Upgrade', upgrade: request.headers['upgrade'] ?? '' } : {}),
      },
      upgrade,
      body: bodiless ? undefined : await request.body(maxBodyBytes),
      signal: link.signal,
    })
    return passOn(response, request.signal, () => link[Symbol.dispose]())
  } catch (error) {
    link[Symbol.dispose]()
    if (error instanceof UnresolvedService) return unavailable('service unavailable')
    return unavailable(`error trying to reach service: ${(error as Error).message}`)
  } finally {
    timer?.cancel()
  }
}

/** A plain text response of the proxy itself, as Go's http.Error writes it. */
export function unavailable(text: string): ApiResponse {
  const response = respondText(503, `${text}\n`)
  return { ...response, headers: { ...response.headers, 'x-content-type-options': 'nosniff' } }
}

/** Whether the path is exactly /apis/<group>/<version>. */
function isDiscovery({ info }: RequestContext): boolean {
  return !info.isResource && trim(info.path, '/').split('/').length === 3
}
