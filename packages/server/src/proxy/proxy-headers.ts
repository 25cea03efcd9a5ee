import type { OutgoingResponse } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'

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
/** Headers of the connection to the backend. */
const notReturned = new Set(['connection', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'])
/** CORS is decided by this server, not by backends. */
const notReturnedPrefix = 'access-control-'

/** The headers of a request that a proxy passes on. */
export function forwardedHeaders({ request, auditId }: RequestContext): Record<string, string> {
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

/** The headers of a response that a proxy passes on. */
export function returnedHeaders({ headers }: OutgoingResponse): Record<string, string | readonly string[]> {
  const returned: Record<string, string | readonly string[]> = {}
  for (const [name, values] of Object.entries(headers)) {
    if (notReturned.has(name) || name.startsWith(notReturnedPrefix)) continue
    returned[name] = values.length === 1 ? values[0]! : values
  }
  return returned
}

/** Whether the client asks to upgrade its connection to another protocol. */
export function isUpgrade({ request }: RequestContext): boolean {
  const { connection = '', upgrade = '' } = request.headers
  return upgrade !== '' && connection.split(',').some((name) => name.trim().toLowerCase() === 'upgrade')
}
