import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ApiHandler } from '@kubewright/api'
import { type Clock, systemClock } from '@kubewright/base'
import { Flusher } from '../http2/flusher.ts'
import { refuseMalformedRequests } from './malformed-requests.ts'
import { OpenConnections } from './open-connections.ts'
import { serveRequest, serveUpgrade } from './serve-http1.ts'
import { serveHttp2 } from './serve-http2.ts'

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
  /** Zero picks a free port. 'none' opens no port: all connections come from {@link Listener.accept}. @default 0 */
  readonly port?: number | 'none'
  /**
   * Called for each new connection before its first byte is read. Returns true when it has taken the connection, for example by
   * sending it to another process. @default the listener serves all
   */
  readonly route?: ((socket: Socket) => boolean) | undefined
  /** @default the system clock */
  readonly clock?: Clock
  /**
   * Milliseconds that requests in progress have to end when the listener is disposed. Watches end at once. @default 0: all requests are
   * canceled at once
   */
  readonly drainTimeout?: number
  /** What clients may use. Each limit has a default. */
  readonly limits?: ListenLimits
}

/** Limits of connections. The page docs/reference/limits.md lists them all. Times are milliseconds. */
export interface ListenLimits {
  /** Closes a connection that has had no request for so long. @default 90 seconds, as in kube-apiserver */
  readonly idleTimeout?: number
  /** Closes a connection that has sent no complete header for so long. @default 32 seconds, as in kube-apiserver */
  readonly headersTimeout?: number
  /**
   * Resets a response of which the client takes less than 64 KiB, and less than what is waiting, in this time. Applies to watches as well.
   * @default 30 seconds
   */
  readonly sendTimeout?: number
  /** Requests in progress on one HTTP/2 connection; clients open further connections. @default 100, as in kube-apiserver */
  readonly streamsPerConnection?: number
  /** Bytes of all headers of an HTTP/2 request. HTTP/1.1 allows 16 KiB, or what `node --max-http-header-size` sets. @default 64 KiB */
  readonly headerBytes?: number
  /** Headers of an HTTP/2 request. @default 128 */
  readonly headers?: number
  /** Connections at the same time; further ones are closed at once. @default 10,000 */
  readonly connections?: number
  /**
   * Bytes of response bodies that wait for their clients, of all connections together. Watches and streamed lists do not count. When there are
   * more, the response that has waited longest is reset. @default 512 MiB
   */
  readonly waitingBytes?: number
}

const defaultLimits = {
  idleTimeout: 90_000,
  headersTimeout: 32_000,
  sendTimeout: 30_000,
  streamsPerConnection: 100,
  headerBytes: 65_535,
  headers: 128,
  connections: 10_000,
  waitingBytes: 512 * 1024 * 1024,
} as const
/** Milliseconds for the TLS handshake. */
const handshakeTimeout = 10_000

/**
 * An open port in front of a handler. Disposing it stops accepting connections, ends watches, lets other requests finish within the drain
 * timeout, cancels the rest and waits until they have ended.
 */
export interface Listener extends AsyncDisposable {
  readonly port: number
  readonly host: string
  /** The number of open connections that the listener serves. */
  readonly connections: number
  /** Serves a connection that another process or listener has accepted. No byte of it may have been read. */
  accept(socket: Socket): void
}

/** Serves a handler over HTTPS. HTTP/1.1 and HTTP/2 share the port. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handler, host = '127.0.0.1', port = 0, clock = systemClock } = options
  const limits = { ...defaultLimits, ...options.limits }
  const open = new OpenConnections(limits.waitingBytes)
  // The modules that open connections are loaded with the first listener: most control planes of tests have none.
  const server = process.getBuiltinModule('node:http2').createSecureServer({
    allowHTTP1: true,
    cert: options.cert,
    key: options.key,
    ca: [...options.clientCas],
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout,
  })
  server.setTimeout(0)
  // Applies between requests of HTTP/1.1. The property exists but is missing in the type of the server.
  Object.assign(server, { keepAliveTimeout: limits.idleTimeout })
  server.maxConnections = limits.connections
  const flusher = new Flusher(clock)
  // Node serves connections of HTTP/1.1 only.
  const serveHttp1 = server.listeners('secureConnection') as ((this: typeof server, socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket) => {
    // Otherwise the first response of a connection waits up to 40 ms for an acknowledgement that the client delays.
    socket.setNoDelay(true)
    if (socket.alpnProtocol === 'h2') return serveHttp2(socket, { handler, open, flusher, clock, limits })
    open.addSocket(socket)
    for (const serve of serveHttp1) serve.call(server, socket)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Protocol errors of a client must not end the process.
  server.on('tlsClientError', () => undefined)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serveRequest(handler, request, response, open, flusher)
  })
  refuseMalformedRequests(server)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    void serveUpgrade(handler, request, { socket, head }, open)
  })
  let isDraining = false
  const accept = (socket: Socket): void => {
    // A socket that arrives from elsewhere does not count as a connection of the server.
    if (isDraining || sockets.size >= limits.connections) socket.destroy()
    else server.emit('connection', socket)
  }
  const acceptor = options.route ? routingServer(options.route, accept) : server
  if (port !== 'none') {
    acceptor.listen(port, host)
    await once(acceptor, 'listening')
  }
  const sweeper = open.sweepEvery(clock, limits)
  const address = acceptor.address()
  return {
    host,
    port: typeof address === 'object' && address ? address.port : 0,
    get connections() {
      return sockets.size
    },
    accept,
    [Symbol.asyncDispose]: async () => {
      isDraining = true
      // A routing server would also wait for the connections that it has passed on.
      const closed = server.listening ? once(server, 'close') : undefined
      if (acceptor.listening) acceptor.close()
      await open.drain(clock, options.drainTimeout ?? 0)
      sweeper.cancel()
      await cut(sockets, open)
      await closed
    },
  }
}

/** Accepts connections without reading from them, and passes those that `route` does not take to `accept`. */
function routingServer(route: (socket: Socket) => boolean, accept: (socket: Socket) => void): Server {
  return process.getBuiltinModule('node:net').createServer({ pauseOnConnect: true }, (socket) => {
    if (!route(socket)) accept(socket)
  })
}

/** Cancels the requests that are left and closes all connections. */
async function cut(sockets: Set<Socket>, open: OpenConnections): Promise<void> {
  open.cancelRequests()
  // Streams have been asked to end. Let their last bytes out in one turn of the event loop, then cut idle connections.
  await new Promise<void>((resolve) => setImmediate(resolve))
  for (const socket of sockets) socket.destroySoon()
}
