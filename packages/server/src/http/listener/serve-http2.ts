import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { ApiHandler, ApiResponse } from '@kubewright/api'
import type { Exchange } from './exchange.ts'
import { isLongRunningUrl, toApiRequest } from './incoming-request.ts'
import { type OpenConnections, resetOutput } from './open-connections.ts'

/** Whether the handler can serve the request of a stream. Otherwise sends the response. */
export function isServable(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const { expect } = headers
  if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
  const refusal = headers[':method'] === 'CONNECT' ? 405 : expect !== undefined && expect !== '100-continue' ? 417 : 0
  if (refusal === 0) return true
  stream.on('error', () => undefined)
  stream.respond({ ':status': refusal }, { endStream: true })
  return false
}

/** Serves a request of HTTP/2. The exchange is in `open` until the client has taken the response. */
export async function serveStream(
  handler: ApiHandler,
  stream: ServerHttp2Stream,
  { headers, rawHeaders }: { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
  open: OpenConnections,
): Promise<void> {
  const connection = open.of(stream.session!)!
  const method = headers[':method']!
  const exchange = open.begin(connection, stream, () => isLongRunningUrl(method, headers[':path']!))
  try {
    const request = { method, url: headers[':path']!, headers, rawHeaders, peer: connection.peer, body: stream }
    await sendStream(exchange, stream, await handler(toApiRequest(request, exchange)), method)
    exchange.complete()
  } catch {
    // The handler never rejects: the connection broke, or a streamed body failed.
    resetOutput(stream, constants.NGHTTP2_INTERNAL_ERROR)
  }
}

/** Headers of HTTP/1.1 connections, which Node refuses to send over HTTP/2. */
const ofHttp1 = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

async function sendStream(
  exchange: Exchange,
  stream: ServerHttp2Stream,
  answer: ApiResponse,
  method: string,
): Promise<void> {
  if (stream.destroyed || stream.closed) return
  const { status, body } = answer
  const headers: OutgoingHttpHeaders = { ':status': status }
  for (const name in answer.headers) {
    if (!ofHttp1.has(name)) headers[name] = answer.headers[name] as string | string[]
  }
  const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (bodiless || body === undefined) {
    stream.respond(headers, { endStream: true })
    return
  }
  // Sends the headers at once, because a client waits for them before the first event of a watch.
  stream.respond(headers)
  if (typeof body !== 'function') return exchange.end(body)
  await body(exchange.sink)
  stream.end()
}
