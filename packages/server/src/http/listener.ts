import { once } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import {
  type ApiHandler,
  type ApiRequest,
  type ApiResponse,
  type BodySink,
  newBadRequest,
  newRequestEntityTooLarge,
  type RequestPeer,
} from '@kubewright/api'
import { parseQuery } from '../request/parse-query.ts'

/** Options of {@link listen}. */
export interface ListenOptions {
  readonly handler: ApiHandler
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** PEM of the CAs whose client certificates are trusted. */
  readonly clientCas: readonly string[]
  /** @default '127.0.0.1' */
  readonly host?: string
  /** Zero picks a free port. @default 0 */
  readonly port?: number
  /** Milliseconds after which an idle connection is closed. @default 90 seconds, as in kube-apiserver */
  readonly idleTimeout?: number
}

/**
 * An open port in front of a handler. Disposing it stops accepting connections, ends open streams and waits until they have ended.
 */
export interface Listener extends AsyncDisposable {
  readonly port: number
  readonly host: string
}

const mebibyte = 1024 * 1024

/** Serves a handler over HTTPS. HTTP/1.1 and HTTP/2 share the port. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handler, host = '127.0.0.1', port = 0, idleTimeout = 90_000 } = options
  /** Requests in flight. */
  const open = new Set<Cancellation>()
  const server = createSecureServer({
    allowHTTP1: true,
    cert: options.cert,
    key: options.key,
    ca: [...options.clientCas],
    requestCert: true,
    rejectUnauthorized: false,
    // With the default of 10 MiB, one large unread response fails all other requests of the connection.
    maxSessionMemory: 1000,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: mebibyte },
  })
  server.setTimeout(0)
  // Applies between requests of HTTP/1.1. The property exists but is missing in the type of the server.
  Object.assign(server, { keepAliveTimeout: idleTimeout })
  server.on('session', (session) => void new Connection(session, idleTimeout))
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Protocol errors of a client must not end the process.
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(handler, request, response, open)
  })
  // Node's compatibility layer wraps HTTP/2 streams as HTTP/1.1 requests, which costs a quarter of each request. Serve streams
  // directly.
  server.removeAllListeners('stream')
  const onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _: number,
    rawHeaders: readonly string[],
  ): void => {
    if (isServable(stream, headers)) void serveStream(handler, stream, { headers, rawHeaders }, open)
  }
  server.on('stream', onStream)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void serveUpgrade(handler, request, { socket, head }, open)
  })
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address ? address.port : port,
    [Symbol.asyncDispose]: () => close(server, sockets, open),
  }
}

const connections = new WeakMap<ServerHttp2Session, Connection>()

/** An HTTP/2 connection. It is closed when it is idle and has no open stream; a watch without events keeps it open. */
class Connection {
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

async function close(server: Http2SecureServer, sockets: Set<Socket>, open: ReadonlySet<Cancellation>): Promise<void> {
  for (const cancellation of open) cancellation.cancel()
  const closed = once(server, 'close')
  server.close()
  // Streams have been asked to end. Let their last bytes out in one turn of the event loop, then cut idle connections.
  await new Promise<void>((resolve) => setImmediate(resolve))
  for (const socket of sockets) socket.destroySoon()
  await closed
}

async function serve(
  handler: ApiHandler,
  request: IncomingMessage,
  response: ServerResponse,
  open: Set<Cancellation>,
): Promise<void> {
  const cancellation = new Cancellation()
  const cancel = (): void => cancellation.cancel()
  open.add(cancellation)
  response.once('close', cancel)
  request.on('error', cancel)
  response.on('error', cancel)
  try {
    const answer = await handler(toApiRequest(received(request), cancellation))
    await send(response, answer, request.method ?? '')
    cancellation.complete = true
  } catch {
    // The handler never rejects, so the connection broke while the response was written.
    response.destroy()
  } finally {
    open.delete(cancellation)
  }
}

/** Whether the handler can serve the request of a stream. Otherwise sends the response. */
function isServable(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const { expect } = headers
  if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
  const refusal = headers[':method'] === 'CONNECT' ? 405 : expect !== undefined && expect !== '100-continue' ? 417 : 0
  if (refusal === 0) return true
  stream.on('error', () => undefined)
  stream.respond({ ':status': refusal }, { endStream: true })
  return false
}

/** Like {@link serve}, for HTTP/2. */
async function serveStream(
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

/** Like {@link serve}, for HTTP/1.1 requests with an `Upgrade` header. A handler that does not upgrade sends a normal response. */
async function serveUpgrade(
  handler: ApiHandler,
  request: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  open: Set<Cancellation>,
): Promise<void> {
  const cancellation = new Cancellation()
  open.add(cancellation)
  socket.once('close', () => {
    cancellation.cancel()
    open.delete(cancellation)
  })
  socket.on('error', () => cancellation.cancel())
  try {
    // Bytes after the head belong to the upgraded protocol.
    const apiRequest = toApiRequest(received(request), cancellation)
    const answer = await handler({ ...apiRequest, signal: cancellation.signal, body: async () => new Uint8Array() })
    if (answer.status === 101 && answer.upgraded) {
      socket.write(switchingHead(answer))
      if (head.length > 0) socket.unshift(head)
      answer.upgraded(socket)
      return
    }
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.shouldKeepAlive = false
    response.once('finish', () => socket.end())
    await send(response, answer, request.method ?? '')
  } catch {
    // The handler never rejects, so the connection broke while the response was written.
    socket.destroy()
  }
}

function switchingHead({ headers }: ApiResponse): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`
}

const canceled = new Error('The client disconnected or the server is stopping')

/**
 * Aborts the signal of a request when the client disconnects or the server stops. The signal is created on first use, because most
 * handlers never read it.
 */
class Cancellation {
  /** Set once the response is complete; there is nothing left to cancel. */
  complete = false
  #canceled = false
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#canceled) this.#controller.abort(canceled)
    }
    return this.#controller.signal
  }

  cancel(): void {
    if (this.complete || this.#canceled) return
    this.#canceled = true
    this.#controller?.abort(canceled)
  }
}

/** The parts of a request that HTTP/1.1 and HTTP/2 share. */
interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly peer: RequestPeer
  readonly body: Readable
}

function received(request: IncomingMessage): Received {
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, url, headers, rawHeaders, peer: peerOf(request.socket as TLSSocket), body: request }
}

function toApiRequest(
  { method, url, headers, rawHeaders, peer, body }: Received,
  cancellation: Cancellation,
): ApiRequest {
  const at = url.indexOf('?')
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: parseQuery(at < 0 ? '' : url.slice(at + 1)),
    headers: joined(headers),
    rawHeaders,
    body: (limit) => readBody(body, limit),
    get signal() {
      return cancellation.signal
    },
    peer,
  }
}

/** Node joins repeated headers, except for `set-cookie`, which requests do not have. */
function joined(headers: IncomingHttpHeaders): ApiRequest['headers'] {
  const cookies = headers['set-cookie']
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as ApiRequest['headers']
}

function readBody(request: Readable, limit: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else {
        // Drain the rest of the body, so that the client reads the response.
        chunks.length = 0
        reject(newRequestEntityTooLarge(`limit is ${limit}`))
      }
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('aborted', () => reject(newBadRequest('unexpected EOF')))
  })
}

const peers = new WeakMap<object, RequestPeer>()

/** The peer of a connection. The certificate is parsed once per connection. */
function peerOf(socket: TLSSocket): RequestPeer {
  let peer = peers.get(socket)
  if (!peer) {
    const address = socket.remoteAddress ?? ''
    const certificate = socket.getPeerCertificate()
    if (!certificate.subject) peer = { address }
    else if (socket.authorized) peer = { address, certificate: subjectOf(certificate) }
    else peer = { address, certificateError: String(socket.authorizationError) }
    peers.set(socket, peer)
  }
  return peer
}

function subjectOf(certificate: PeerCertificate): NonNullable<RequestPeer['certificate']> {
  // A repeated attribute is a list. The last common name counts, as in Go.
  const valuesOf = (value: unknown): string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [String(value)]
  return {
    commonName: valuesOf(certificate.subject.CN).at(-1) ?? '',
    organizations: valuesOf(certificate.subject.O),
    fingerprint: certificate.fingerprint256,
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
  if (typeof body === 'function') await body(sinkOf(stream))
  stream.end(typeof body === 'function' ? undefined : body)
}

function sinkOf(stream: Writable): BodySink {
  return {
    write: (chunk) => stream.write(chunk),
    drained: () =>
      new Promise((resolve) => {
        const done = (): void => {
          stream.off('drain', done)
          stream.off('close', done)
          resolve()
        }
        stream.once('drain', done)
        stream.once('close', done)
      }),
  }
}

async function send(response: ServerResponse, answer: ApiResponse, method: string): Promise<void> {
  if (response.writableEnded || response.destroyed) return
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value as string | string[])
  response.statusCode = answer.status
  if (method === 'HEAD' || answer.body === undefined) {
    response.end()
    return
  }
  if (typeof answer.body !== 'function') {
    response.end(answer.body)
    return
  }
  response.writeHead(answer.status)
  // Sends the headers at once, because a client waits for them before the first event of a watch.
  response.flushHeaders()
  await answer.body(sinkOf(response))
  response.end()
}
