import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ApiHandler, ApiResponse, RequestPeer } from '@kubewright/api'
import { bodySinkOf } from './body-sink.ts'
import { Cancellation, toApiRequest } from './incoming-request.ts'
import { peerOf } from './request-peer.ts'

const connections = new WeakMap<ServerHttp2Session, Http2Connection>()

/** An HTTP/2 connection, which registers itself for {@link serveStream}. It is closed when it is idle and has no open stream; a watch without events keeps it open. */
export class Http2Connection {
  readonly #session: ServerHttp2Session
  readonly #idleTimeout: number
  #peer: RequestPeer | undefined
  /** Number of streams that have not ended. */
  #open = 0
  /** Whether the idle timeout passed while a stream was open; the timer then has to be restarted. */
  #overdue = false

  constructor(session: ServerHttp2Session, idleTimeout: number) {
    this.#session = session
    this.#idleTimeout = idleTimeout
    connections.set(session, this)
    session.setTimeout(idleTimeout)
    session.on('timeout', () => {
      if (this.#open === 0) session.close()
      else this.#overdue = true
    })
  }

  begin(): void {
    this.#open++
  }

  end(): void {
    this.#open--
    if (!this.#overdue || this.#open > 0 || this.#session.closed) return
    this.#overdue = false
    this.#session.setTimeout(this.#idleTimeout)
  }

  get peer(): RequestPeer {
    return (this.#peer ??= peerOf(this.#session.socket as TLSSocket))
  }
}

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

/** Serves a request of HTTP/2. `open` contains the cancellations of all requests in flight. */
export async function serveStream(
  handler: ApiHandler,
  stream: ServerHttp2Stream,
  head: { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
  open: Set<Cancellation>,
): Promise<void> {
  const cancellation = new Cancellation()
  const connection = connections.get(stream.session as ServerHttp2Session)!
  open.add(cancellation)
  connection.begin()
  stream.on('close', () => {
    connection.end()
    cancellation.cancel()
  })
  stream.on('error', () => cancellation.cancel())
  const { headers, rawHeaders } = head
  const method = headers[':method']!
  try {
    const request = {
      method,
      url: headers[':path']!,
      headers,
      rawHeaders,
      peer: connection.peer,
      body: stream,
    }
    await sendStream(stream, await handler(toApiRequest(request, cancellation)), method)
    cancellation.complete = true
  } catch {
    // The handler never rejects, so the connection broke while the response was written.
    stream.destroy()
  } finally {
    open.delete(cancellation)
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

async function sendStream(stream: ServerHttp2Stream, answer: ApiResponse, method: string): Promise<void> {
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
  if (typeof body === 'function') await body(bodySinkOf(stream))
  stream.end(typeof body === 'function' ? undefined : body)
}
