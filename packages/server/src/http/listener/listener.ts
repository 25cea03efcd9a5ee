import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ApiHandler } from '@kubewright/api'
import {
  type Clock,
  type Defined,
  type Duration,
  defineBudget,
  omitUndefined,
  systemClock,
  toMillis,
} from '@kubewright/base'
import { Flusher } from '../http2/flusher.ts'
import { hostProblem, refuseHost, refuseMalformedRequests } from './malformed-requests.ts'
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
  readonly host?: string | undefined
  /** Zero picks a free port. @default 0 */
  readonly port?: number | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /**
   * How long requests in progress have to end when the listener is disposed. Watches end at once. @default 0: all requests are
   * canceled at once
   */
  readonly drainTimeout?: Duration | undefined
  /** What clients may use. Each limit has a default. */
  readonly limits?: ListenLimits | undefined
}

/** Limits of connections. The page docs/reference/limits.md lists them all. */
export interface ListenLimits {
  /** Closes a connection that has had no request for so long. @default 90 seconds, as in kube-apiserver */
  readonly idleTimeout?: Duration | undefined
  /** Closes a connection that has sent no complete header for so long. @default 32 seconds, as in kube-apiserver */
  readonly headersTimeout?: Duration | undefined
  /**
   * Resets a response of which the client takes less than 64 KiB, and less than what is waiting, in this time. Applies to watches as well.
   * @default 30 seconds
   */
  readonly sendTimeout?: Duration | undefined
  /** Requests in progress on one HTTP/2 connection; clients open further connections. @default 100, as in kube-apiserver */
  readonly streamsPerConnection?: number | undefined
  /** Bytes of all headers of an HTTP/2 request. HTTP/1.1 allows 16 KiB, or what `node --max-http-header-size` sets. @default 64 KiB */
  readonly headerBytes?: number | undefined
  /** Headers of an HTTP/2 request. @default 128 */
  readonly headers?: number | undefined
  /** Connections at the same time; further ones are closed at once. @default 10,000 */
  readonly connections?: number | undefined
  /**
   * Bytes of response bodies that wait for their clients, of all connections together. Watches and streamed lists do not count. When there are
   * more, the response that has waited longest is reset. @default 512 MiB
   */
  readonly waitingBytes?: number | undefined
  /** Bytes of request bodies in memory, of all connections together, until their responses have ended. Further bodies get 429. @default 512 MiB */
  readonly bodyBytes?: number | undefined
  /** The same for one connection. @default 64 MiB */
  readonly connectionBodyBytes?: number | undefined
}

const defaultLimits: Defined<ListenLimits> = {
  idleTimeout: defineBudget('90s', {
    group: 'server',
    what: 'time of a connection without a request; pings and incomplete headers do not count as requests',
    option: '`limits.idleTimeout` of `listen`',
    answer: 'the connection is closed',
    kubernetes: 'yes',
  }),
  headersTimeout: defineBudget('32s', {
    group: 'server',
    what: 'time from the handshake to the first complete header',
    option: '`limits.headersTimeout` of `listen`',
    answer: 'the connection is closed',
    kubernetes: 'yes',
  }),
  sendTimeout: defineBudget('30s', {
    group: 'server',
    what: 'time in which a client must take 64 KiB of a response, or all that is waiting; watches too',
    option: '`limits.sendTimeout` of `listen`',
    answer: 'HTTP/2: the stream is reset with CANCEL; HTTP/1.1: the connection is closed',
    kubernetes: 'no',
  }),
  streamsPerConnection: defineBudget(100, {
    group: 'server',
    what: 'concurrent streams of an HTTP/2 connection',
    option: '`limits.streamsPerConnection` of `listen`, `up --max-streams`',
    answer: 'the stream is refused; clients open another connection',
    kubernetes: 'yes',
  }),
  headerBytes: defineBudget(65_535, {
    group: 'server',
    what: 'size of all headers, HTTP/2',
    unit: 'bytes',
    option: '`limits.headerBytes` of `listen`, `up --max-header-kib`',
    answer: 'the stream is reset; if their encoded form is larger as well, the connection is closed',
    kubernetes: '1 MiB',
  }),
  headers: defineBudget(128, {
    group: 'server',
    what: 'number of headers, HTTP/2',
    option: '`limits.headers` of `listen`',
    answer: 'the stream is reset',
    kubernetes: 'no limit',
  }),
  connections: defineBudget(10_000, {
    group: 'server',
    what: 'connections',
    option: '`limits.connections` of `listen`',
    answer: 'the connection is closed',
    kubernetes: 'no limit',
  }),
  waitingBytes: defineBudget(512 * 1024 * 1024, {
    group: 'server',
    what: 'bytes of response bodies that wait for their clients, of all connections together; streamed lists and watches do not count',
    unit: 'bytes',
    option: '`limits.waitingBytes` of `listen`',
    answer: 'the response that has waited longest is reset',
    kubernetes: 'no',
  }),
  bodyBytes: defineBudget(512 * 1024 * 1024, {
    group: 'server',
    what: 'bytes of request bodies in memory, until their responses have ended, of all connections together',
    unit: 'bytes',
    option: '`limits.bodyBytes` of `listen`',
    answer: '429',
    kubernetes: 'no',
  }),
  connectionBodyBytes: defineBudget(64 * 1024 * 1024, {
    group: 'server',
    what: 'bytes of request bodies in memory, until their responses have ended, of one connection',
    unit: 'bytes',
    option: '`limits.connectionBodyBytes` of `listen`',
    answer: '429',
    kubernetes: 'no',
  }),
} as const
/** Milliseconds for the TLS handshake. */
const handshakeTimeout = defineBudget(10_000, {
  group: 'server',
  what: 'time for the TLS handshake',
  unit: 'millis',
  answer: 'the connection is closed',
  kubernetes: '32 s together with the first header',
})

/**
 * An open port in front of a handler. Disposing it stops accepting connections, ends watches, lets other requests finish within the drain
 * timeout, cancels the rest and waits until they have ended.
 */
export interface Listener extends AsyncDisposable {
  readonly port: number
  readonly host: string
}

const inMillis = (limits: Defined<ListenLimits>) => ({
  ...limits,
  idleTimeout: toMillis(limits.idleTimeout),
  headersTimeout: toMillis(limits.headersTimeout),
  sendTimeout: toMillis(limits.sendTimeout),
})

/** Serves a handler over HTTPS. HTTP/1.1 and HTTP/2 share the port. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handler, host = '127.0.0.1', port = 0, clock = systemClock } = options
  const limits = inMillis({ ...defaultLimits, ...omitUndefined<Partial<Defined<ListenLimits>>>(options.limits ?? {}) })
  const open = new OpenConnections(limits.waitingBytes, {
    total: limits.bodyBytes,
    connection: limits.connectionBodyBytes,
  })
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
    const problem = hostProblem(request)
    if (problem) refuseHost(response, problem)
    else void serveRequest(handler, request, response, open, flusher)
  })
  refuseMalformedRequests(server)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const problem = hostProblem(request)
    if (problem) socket.destroy()
    else void serveUpgrade(handler, request, { socket, head }, open)
  })
  server.listen(port, host)
  await once(server, 'listening')
  const sweeper = open.sweepEvery(clock, limits)
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address ? address.port : port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      await open.drain(clock, toMillis(options.drainTimeout ?? 0))
      sweeper.cancel()
      await cut(sockets, open)
      await closed
    },
  }
}

/** Cancels the requests that are left and closes all connections. */
async function cut(sockets: Set<Socket>, open: OpenConnections): Promise<void> {
  open.cancelRequests()
  // Streams have been asked to end. Let their last bytes out in one turn of the event loop, then cut idle connections.
  await new Promise<void>((resolve) => setImmediate(resolve))
  for (const socket of sockets) socket.destroySoon()
}
