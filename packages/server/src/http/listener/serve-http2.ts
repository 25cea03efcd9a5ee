import type { TLSSocket } from 'node:tls'
import type { ApiHandler, ApiResponse } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { Flusher } from '../http2/flusher.ts'
import { Http2Connection } from '../http2/http2-connection.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import type { Connection } from './connection.ts'
import type { Exchange } from './exchange.ts'
import { isLongRunningUrl, toApiRequest } from './incoming-request.ts'
import type { OpenConnections } from './open-connections.ts'

/** The parts of a listener that serve HTTP/2. */
export interface Http2Serving {
  readonly handler: ApiHandler
  readonly open: OpenConnections
  readonly flusher: Flusher
  readonly clock: Clock
  readonly limits: { readonly streamsPerConnection: number; readonly headerBytes: number; readonly headers: number }
}

/** Serves the requests of a connection. Each exchange is in `open` until the client has taken the response. */
export function serveHttp2(socket: TLSSocket, serving: Http2Serving): void {
  const { open, flusher, clock, limits } = serving
  const onStream = (stream: Http2Stream): void => {
    if (isServable(stream)) void serveStream(serving, connection, stream)
  }
  const http2 = new Http2Connection(socket, {
    ...limits,
    flusher,
    clock,
    onStream,
    bodies: open.bodies.accountOf(socket),
  })
  const connection = open.addHttp2(socket, http2)
}

/** Whether the handler can serve the request of a stream. Otherwise sends the response. */
function isServable(stream: Http2Stream): boolean {
  const { expect, ':method': method } = stream.headers
  if (expect === '100-continue') stream.respondContinue()
  const refusal = method === 'CONNECT' ? 405 : expect !== undefined && expect !== '100-continue' ? 417 : 0
  if (refusal === 0) return true
  stream.respond(refusal, {}, true)
  return false
}

async function serveStream(
  { handler, open, clock }: Http2Serving,
  connection: Connection,
  stream: Http2Stream,
): Promise<void> {
  const method = stream.headers[':method']!
  const url = stream.headers[':path']!
  const exchange = open.begin(connection, stream, () => isLongRunningUrl(method, url))
  try {
    const answer = await handleStream(handler, connection, stream, exchange)
    await sendStream(exchange, stream, answer, method, clock)
    exchange.complete()
  } catch {
    // The handler never rejects: the connection broke, or a streamed body failed.
    stream.reset()
  }
}

/** Calls the handler. Not part of {@link serveStream}, which would keep the request in memory until the end of a watch. */
function handleStream(
  handler: ApiHandler,
  { peer }: Connection,
  stream: Http2Stream,
  exchange: Exchange,
): Promise<ApiResponse> {
  const { headers, rawHeaders, body } = stream
  const method = headers[':method']!
  const url = headers[':path']!
  return handler(toApiRequest({ method, url, headers, rawHeaders, peer, body }, exchange))
}

/** Headers of HTTP/1.1 connections, which HTTP/2 forbids. */
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
  stream: Http2Stream,
  answer: ApiResponse,
  method: string,
  clock: Clock,
): Promise<void> {
  if (stream.destroyed) return
  const { status, body } = answer
  const headers: Record<string, string | readonly string[]> = {}
  for (const name in answer.headers) {
    if (!ofHttp1.has(name)) headers[name] = answer.headers[name]!
  }
  headers['date'] ??= dateText(clock.now())
  const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (bodiless || body === undefined) return stream.respond(status, headers, true)
  stream.respond(status, headers, false)
  if (typeof body !== 'function') return exchange.end(body)
  await body(exchange)
  stream.end()
}

let dateSecond = 0
let date = ''

/** The value of the header `date`. Formatting it costs as much as the rest of a header block, so it is kept for a second. */
function dateText(now: number): string {
  const second = Math.floor(now / 1000)
  if (second !== dateSecond || date === '') {
    dateSecond = second
    date = new Date(now).toUTCString()
  }
  return date
}
