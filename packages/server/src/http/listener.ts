import { once } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { newBadRequest, newRequestEntityTooLarge } from '@kubewright/api'
import type { ApiHandler, ApiRequest, ApiResponse, Peer, Sink } from './api-request.ts'

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
  server.on('session', (session) => closeWhenIdle(session, idleTimeout))
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // A client that speaks nonsense is its own problem.
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    void serve(handler, request, response, open)
  })
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

/** Closes an HTTP/2 connection on which nothing happens and no stream, such as a quiet watch, is open. */
function closeWhenIdle(session: ServerHttp2Session, timeout: number): void {
  let open = 0
  session.on('stream', (stream) => {
    open++
    stream.once('close', () => open--)
  })
  session.setTimeout(timeout)
  session.on('timeout', () => {
    if (open === 0) session.close()
  })
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
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  open: Set<Departure>,
): Promise<void> {
  const departure = new Departure()
  const leave = (): void => departure.leave()
  open.add(departure)
  response.once('close', leave)
  request.on('error', leave)
  response.on('error', leave)
  try {
    const answer = await handler(toApiRequest(request, departure))
    await send(response, answer, request.method)
    departure.answered = true
  } catch {
    // The handler does not reject; what remains is a connection that broke while we wrote.
    response.stream?.destroy?.()
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
    const asked = toApiRequest(request as Http2ServerRequest & IncomingMessage, departure)
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
    await send(response as ServerResponse & Http2ServerResponse, answer, request.method ?? '')
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

function toApiRequest(request: Http2ServerRequest, departure: Departure): ApiRequest {
  const url = request.url
  const at = url.indexOf('?')
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  return {
    method: request.method,
    path: at < 0 ? url : url.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    headers,
    rawHeaders: request.rawHeaders,
    body: (limit) => readBody(request, limit),
    get signal() {
      return departure.signal
    },
    peer: peerOf(request),
  }
}

function readBody(request: Http2ServerRequest, limit: number): Promise<Uint8Array> {
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
function peerOf(request: Http2ServerRequest): Peer {
  const socket = (request.stream?.session?.socket ?? request.socket) as TLSSocket
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

async function send(response: Http2ServerResponse, answer: ApiResponse, method: string): Promise<void> {
  if (response.writableEnded || response.destroyed) return
  const http2 = response.stream?.session !== undefined && 'respond' in response.stream
  for (const [name, value] of Object.entries(answer.headers)) {
    if (http2 && name === 'transfer-encoding') continue
    response.setHeader(name, value as string | string[])
  }
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
  const sink: Sink = {
    write: (chunk) => response.write(chunk),
    drained: () =>
      new Promise((resolve) => {
        const done = (): void => {
          response.off('drain', done)
          response.off('close', done)
          resolve()
        }
        response.once('drain', done)
        response.once('close', done)
      }),
  }
  // A client waits for the headers of a stream that has nothing to say yet.
  if ('flushHeaders' in response) (response as { flushHeaders(): void }).flushHeaders()
  await answer.body(sink)
  response.end()
}
