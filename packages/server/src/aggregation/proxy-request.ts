import type { Duplex } from 'node:stream'
import type { ApiResponse, BodySink } from '@kubewright/api'
import { linkSignals, trim } from '@kubewright/base'
import type { OutgoingResponse } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respondText } from '../request/respond.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { type ExtensionServers, UnresolvedService } from './extension-servers.ts'

/** Request bodies are buffered in memory. Extension servers have lower limits of their own. */
const maxBodyBytes = 64 * 1024 * 1024
/** Clients read discovery first, so a slow extension server must not block it for long. */
const discoveryTimeout = 5000

/** Headers of the connection and credentials of the client are not forwarded. */
const notForwarded = new Set([
  'authorization',
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** A client must not choose its own user headers; the front proxy adds them after this filter. */
const notForwardedPrefixes = [':', 'impersonate-', 'x-remote-']
/** Headers of the connection to the extension server. */
const notReturned = new Set(['connection', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'])
/** CORS is decided by this server, not by extension servers. */
const notReturnedPrefix = 'access-control-'

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
    const { upgraded } = response
    if (upgraded) {
      upgraded.once('close', () => link[Symbol.dispose]())
      const headers = {
        ...returnedHeaders(response),
        connection: 'Upgrade',
        upgrade: response.headers['upgrade'] ?? [],
      }
      return { status: response.status, headers, upgraded: (client) => join(client, upgraded) }
    }
    return {
      status: response.status,
      headers: returnedHeaders(response),
      body: (sink) => copyBody(response, sink, request.signal).finally(() => link[Symbol.dispose]()),
    }
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

function isUpgrade({ request }: RequestContext): boolean {
  const { connection = '', upgrade = '' } = request.headers
  return upgrade !== '' && connection.split(',').some((name) => name.trim().toLowerCase() === 'upgrade')
}

/** Copies bytes in both directions until one side closes. */
function join(client: Duplex, server: Duplex): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to)
    from.once('error', () => to.destroy())
    // Flushes pending bytes before closing.
    from.once('close', () => to.end())
  }
}

function forwardedHeaders({ request, auditId }: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {}
  // Headers that `Connection` names belong to the connection of the client (RFC 9110, 7.6.1).
  const named = new Set((request.headers['connection'] ?? '').split(',').map((name) => name.trim().toLowerCase()))
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || notForwarded.has(name) || named.has(name)) continue
    if (notForwardedPrefixes.some((prefix) => name.startsWith(prefix))) continue
    headers[name] = value
  }
  const forwardedFor = headers['x-forwarded-for']
  headers['x-forwarded-for'] =
    forwardedFor === undefined ? request.peer.address : `${forwardedFor}, ${request.peer.address}`
  headers['x-forwarded-host'] ??= request.headers[':authority'] ?? request.headers['host'] ?? ''
  headers['x-forwarded-proto'] ??= 'https'
  headers['x-forwarded-uri'] = request.path
  if (auditId !== undefined) headers['audit-id'] = auditId
  return headers
}

function returnedHeaders({ headers }: OutgoingResponse): Record<string, string | readonly string[]> {
  const returned: Record<string, string | readonly string[]> = {}
  for (const [name, values] of Object.entries(headers)) {
    if (notReturned.has(name) || name.startsWith(notReturnedPrefix)) continue
    returned[name] = values.length === 1 ? values[0]! : values
  }
  return returned
}

async function copyBody({ body }: OutgoingResponse, sink: BodySink, signal: AbortSignal): Promise<void> {
  try {
    for await (const chunk of body) if (!sink.write(chunk)) await sink.drained()
  } catch (error) {
    // The client has disconnected and needs no error.
    if (!signal.aborted) throw error
  }
}
