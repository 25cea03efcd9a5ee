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
import { newBadRequest, newRequestEntityTooLarge } from '@kubewright/api'
import type { ApiHandler, ApiRequest, ApiResponse, Peer, Sink } from '../request/api-request.ts'
import { parseQuery } from '../request/parse-query.ts'

/** What {@link listen} takes. */
export interface ListenOptions {
  readonly handler: ApiHandler
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** CAs whose client certificates are trusted. */
  readonly clientCas: readonly string[]
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. @default 0 */
  readonly port?: number
  /** Milliseconds after which a connection that carries nothing is closed. @default 90 seconds, as kube-apiserver */
  readonly idleTimeout?: number
}

/** An open port in front of a handler. Disposing it stops accepting, ends open streams and waits for them. */
export interface Listener extends AsyncDisposable {
  readonly port: number
  readonly host: string
}

const mebibyte = 1024 * 1024

/** Serves a handler over HTTPS, HTTP/1.1 and HTTP/2 on one port. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handler, host = '127.0.0.1', port = 0, idleTimeout = 90_000 } = options
  /** Requests that are being answered. */
  const open = new Set<Departure>()
  const server = createSecureServer({
    allowHTTP1: true,
    cert: options.cert,
    key: options.key,
    ca: [...options.clientCas],
    requestCert: true,
    rejectUnauthorized: false,
    // The default of 10 MiB fails every other request of a connection while one large answer waits to be read.
    maxSessionMemory: 1000,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: mebibyte },
  })
  server.setTimeout(0)
  // Between requests of HTTP/1.1; the server has the property, and its type does not.
  Object.assign(server, { keepAliveTimeout: idleTimeout })
  server.on('session', (session) => void new Connection(session, idleTimeout))
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A client that speaks nonsense is its own problem.
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(handler, request, response, open)
  })
  // Hearing requests brings in the layer that dresses streams of HTTP/2 as requests of HTTP/1.1, at a quarter of what a request costs.
  server.removeAllListeners('stream')
  const onStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    _: number,
    rawHeaders: readonly string[],
  ): void => {
    if (fits(stream, headers)) void serveStream(handler, stream, { headers, rawHeaders }, open)
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

/** A connection of HTTP/2. It is closed when nothing happens on it and no stream, such as a quiet watch, is open. */
class Connection {
  readonly #session: ServerHttp2Session
  readonly #idleTimeout: number
  #peer: Peer | undefined
  /** Streams that have not ended. */
  #open = 0
  /** Time ran out while a stream was open, and nothing has set the timer again. */
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

  get peer(): Peer {
    return (this.#peer ??= peerOf(this.#session.socket as TLSSocket))
  }
}

async function close(server: Http2SecureServer, sockets: Set<Socket>, open: ReadonlySet<Departure>): Promise<void> {
  for (const departure of open) departure.leave()
  const closed = once(server, 'close')
  server.close()
  // Streams have been told to end; give their last bytes a turn of the event loop, then cut idle connections.
  await new Promise<void>((resolve) => setImmediate(resolve))
  for (const socket of sockets) socket.destroySoon()
  await closed
}

async function serve(
  handler: ApiHandler,
  request: IncomingMessage,
  response: ServerResponse,
  open: Set<Departure>,
): Promise<void> {
  const departure = new Departure()
  const leave = (): void => departure.leave()
  open.add(departure)
  response.once('close', leave)
  request.on('error', leave)
  response.on('error', leave)
  try {
    const answer = await handler(toApiRequest(received(request), departure))
    await send(response, answer, request.method ?? '')
    departure.answered = true
  } catch {
    // The handler does not reject; what remains is a connection that broke while we wrote.
    response.destroy()
  } finally {
    open.delete(departure)
  }
}

/** Whether a stream carries a request that the handler can answer; answers it if not. */
function fits(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const { expect } = headers
  if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
  const refusal = headers[':method'] === 'CONNECT' ? 405 : expect !== undefined && expect !== '100-continue' ? 417 : 0
  if (refusal === 0) return true
  stream.on('error', () => undefined)
  stream.respond({ ':status': refusal }, { endStream: true })
  return false
}

/** As {@link serve}, for a request of HTTP/2. */
async function serveStream(
  handler: ApiHandler,
  stream: ServerHttp2Stream,
  head: { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] },
  open: Set<Departure>,
): Promise<void> {
  const departure = new Departure()
  const connection = connections.get(stream.session as ServerHttp2Session)!
  open.add(departure)
  connection.begin()
  stream.on('close', () => {
    connection.end()
    departure.leave()
  })
  stream.on('error', () => departure.leave())
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
    await sendStream(stream, await handler(toApiRequest(request, departure)), method)
    departure.answered = true
  } catch {
    // The handler does not reject; what remains is a connection that broke while we wrote.
    stream.destroy()
  } finally {
    open.delete(departure)
  }
}

/** As {@link serve}, for a request of HTTP/1.1 that asks for another protocol. Whoever does not know that answers as usual. */
async function serveUpgrade(
  handler: ApiHandler,
  request: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  open: Set<Departure>,
): Promise<void> {
  const departure = new Departure()
  open.add(departure)
  socket.once('close', () => {
    departure.leave()
    open.delete(departure)
  })
  socket.on('error', () => departure.leave())
  try {
    // What was sent behind the head belongs to the other protocol.
    const asked = toApiRequest(received(request), departure)
    const answer = await handler({ ...asked, signal: departure.signal, body: async () => new Uint8Array() })
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
    // The handler does not reject; what remains is a connection that broke while we wrote.
    socket.destroy()
  }
}

function switchingHead({ headers }: ApiResponse): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`
}

const departed = new Error('The client went away, or the server is stopping')

/**
 * Tells those who work on a request that nobody waits for its answer any more. The signal is made when somebody asks for it: most
 * requests are answered before anybody does.
 */
class Departure {
  /** Set when there is nothing left to stop. */
  answered = false
  #left = false
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#left) this.#controller.abort(departed)
    }
    return this.#controller.signal
  }

  leave(): void {
    if (this.answered || this.#left) return
    this.#left = true
    this.#controller?.abort(departed)
  }
}

/** What the versions of HTTP have in common. */
interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly peer: Peer
  readonly body: Readable
}

function received(request: IncomingMessage): Received {
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, url, headers, rawHeaders, peer: peerOf(request.socket as TLSSocket), body: request }
}

function toApiRequest({ method, url, headers, rawHeaders, peer, body }: Received, departure: Departure): ApiRequest {
  const at = url.indexOf('?')
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: parseQuery(at < 0 ? '' : url.slice(at + 1)),
    headers: joined(headers),
    rawHeaders,
    body: (limit) => readBody(body, limit),
    get signal() {
      return departure.signal
    },
    peer,
  }
}

/** Node joins all headers that occur more than once, except for one that no client sends. */
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
        // The rest is read and thrown away, so that the client gets to see the answer.
        chunks.length = 0
        reject(newRequestEntityTooLarge(`limit is ${limit}`))
      }
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('aborted', () => reject(newBadRequest('unexpected EOF')))
  })
}

const peers = new WeakMap<object, Peer>()

/** The peer of a connection, read from its certificate once. */
function peerOf(socket: TLSSocket): Peer {
  let peer = peers.get(socket)
  if (!peer) {
    const address = socket.remoteAddress ?? ''
    const certificate = socket.getPeerCertificate()
    // Without a certificate this is an empty object.
    if (!certificate.subject) peer = { address }
    else if (socket.authorized) peer = { address, certificate: subjectOf(certificate) }
    else peer = { address, certificateError: String(socket.authorizationError) }
    peers.set(socket, peer)
  }
  return peer
}

function subjectOf(certificate: PeerCertificate): NonNullable<Peer['certificate']> {
  // An attribute that occurs more than once is a list; of several common names the last one counts, as in Go.
  const valuesOf = (value: unknown): string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [String(value)]
  return {
    commonName: valuesOf(certificate.subject.CN).at(-1) ?? '',
    organizations: valuesOf(certificate.subject.O),
    fingerprint: certificate.fingerprint256,
  }
}

/** What only HTTP/1.1 says about a connection; Node refuses to send it over HTTP/2. */
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
  // A client waits for the headers of a stream that has nothing to say yet: they are on their way from here on.
  stream.respond(headers)
  if (typeof body === 'function') await body(sinkOf(stream))
  stream.end(typeof body === 'function' ? undefined : body)
}

/** The end of a stream that bytes are written to. */
function sinkOf(stream: Writable): Sink {
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
  // A client waits for the headers of a stream that has nothing to say yet.
  response.flushHeaders()
  await answer.body(sinkOf(response))
  response.end()
}
