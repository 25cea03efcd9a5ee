import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { ApiHandler } from '@kubewright/api'
import type { Cancellation } from './incoming-request.ts'
import { serveRequest, serveUpgrade } from './serve-http1.ts'
import { Http2Connection, isServable, serveStream } from './serve-http2.ts'

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
  server.on('session', (session) => void new Http2Connection(session, idleTimeout))
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Protocol errors of a client must not end the process.
  server.on('sessionError', () => undefined)
  server.on('tlsClientError', () => undefined)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serveRequest(handler, request, response, open)
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

async function close(server: Http2SecureServer, sockets: Set<Socket>, open: ReadonlySet<Cancellation>): Promise<void> {
  for (const cancellation of open) cancellation.cancel()
  const closed = once(server, 'close')
  server.close()
  // Streams have been asked to end. Let their last bytes out in one turn of the event loop, then cut idle connections.
  await new Promise<void>((resolve) => setImmediate(resolve))
  for (const socket of sockets) socket.destroySoon()
  await closed
}
