import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { ServerHttp2Session } from 'node:http2'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import {
  type BodyAccount,
  BodyBudget,
  defineBudget,
  IncomingBody,
  KubewrightError,
  type Logger,
} from '@kubewright/base'
import type { HttpHandler, HttpRequest, HttpResponse } from './http-handler.ts'
import type { HttpListener, Listening, ListenOptions } from './http-listener.ts'

// The limits of controller-runtime.
const headersTimeout = 32_000
const idleTimeout = 90_000
const maxHeaderSize = 1024 * 1024
const handshakeTimeout = 10_000
/** Of one HTTP/2 connection, as in Go. */
export const maxConcurrentStreams: number = defineBudget(250, {
  group: 'other',
  what: 'concurrent streams of an HTTP/2 connection of these servers',
  answer: 'the stream is refused',
})
/** Bodies in memory. Requests to these servers are small: metrics, probes, the commands of a console. */
const bodyLimits = {
  total: defineBudget(32 * 1024 * 1024, {
    group: 'other',
    what: 'bytes of request bodies in memory, servers of metrics, probes and console',
    unit: 'bytes',
    shown: '{}, 16 MiB of one connection',
    answer: 'the request fails',
  }),
  connection: 16 * 1024 * 1024,
}

/** Opens servers on sockets. */
export const systemHttpListener: HttpListener = {
  listen: async (options: ListenOptions): Promise<Listening> => {
    const { name, host, port } = options
    const server = serverFor(options)
    const connections = new OpenConnections(server)
    const bodies = new BodyBudget(bodyLimits)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      connections.began(request, response)
      void serve(options, request, response, bodies.accountOf(connectionOf(request)))
    })
    // Malformed requests and failed handshakes close the connection without a log line.
    server.on('clientError', (_, socket) => void socket.destroy())
    server.on('tlsClientError', () => undefined)
    server.listen(port, host === '' ? undefined : host)
    try {
      await once(server, 'listening')
    } catch (error) {
      throw listenError(name, `${host}:${port}`, error)
    }
    const address = server.address()
    const reload = options.certificate?.onChange(() => setCertificate(server, options))
    return {
      port: typeof address === 'object' && address ? address.port : port,
      [Symbol.asyncDispose]: async () => {
        reload?.[Symbol.dispose]()
        const closed = once(server, 'close')
        server.close()
        connections.end()
        await closed
      },
    }
  },
}

/** The HTTP/2 session or the socket of a request. Each stream of a session has a socket object of its own. */
export function connectionOf(request: IncomingMessage): object {
  const { stream } = request as { readonly stream?: { readonly session?: object | undefined } | undefined }
  return stream?.session ?? request.socket
}

/** The connections of a server. Closing a server must not wait for idle connections that clients keep open. */
class OpenConnections {
  /** The number of requests in flight on each HTTP/1.1 connection. */
  readonly #sockets = new Map<Socket, number>()
  readonly #sessions = new Set<ServerHttp2Session>()
  #isEnding = false

  constructor(server: Server | TlsServer) {
    const isTls = 'setSecureContext' in server
    server.on(
      isTls ? 'secureConnection' : 'connection',
      (socket: Socket & { alpnProtocol?: string | false | undefined }) => {
        // HTTP/2 connections are tracked by session.
        if (socket.alpnProtocol === 'h2') return
        this.#sockets.set(socket, 0)
        socket.once('close', () => this.#sockets.delete(socket))
      },
    )
    server.on('session', (session: ServerHttp2Session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
    })
  }

  began({ socket }: IncomingMessage, response: ServerResponse): void {
    const count = this.#sockets.get(socket)
    if (count === undefined) return
    this.#sockets.set(socket, count + 1)
    response.once('close', () => {
      const left = (this.#sockets.get(socket) ?? 1) - 1
      if (this.#sockets.has(socket)) this.#sockets.set(socket, left)
      if (this.#isEnding && left === 0) socket.end()
    })
  }

  /** Closes every connection as soon as no request is in flight on it. */
  end(): void {
    this.#isEnding = true
    for (const [socket, count] of this.#sockets) if (count === 0) socket.destroy()
    for (const session of this.#sessions) session.close()
  }
}

/** The modules of Node are loaded with the first server that needs them. */
function serverFor({ certificate, http2 = false }: ListenOptions): Server | TlsServer {
  const limits = { maxHeaderSize, headersTimeout, keepAliveTimeout: idleTimeout, requestTimeout: headersTimeout }
  if (certificate === undefined) return process.getBuiltinModule('node:http').createServer(limits)
  const { cert, key } = certificate.current()
  const tls = { cert, key, minVersion: 'TLSv1.2' as const, handshakeTimeout, ...limits }
  if (!http2) return process.getBuiltinModule('node:https').createServer(tls)
  // Serves both protocols on one port. For the events used here it behaves like a TlsServer.
  const { createSecureServer } = process.getBuiltinModule('node:http2')
  return createSecureServer({ ...tls, settings: { maxConcurrentStreams }, allowHTTP1: true }) as unknown as TlsServer
}

/**
 * Applies a new certificate: new connections get it, open ones keep the old one. An invalid certificate is logged and
 * ignored.
 */
function setCertificate(server: Server | TlsServer, { certificate, name, log }: ListenOptions): void {
  try {
    const { cert, key } = certificate?.current() ?? {}
    if ('setSecureContext' in server) server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' })
  } catch (error) {
    log.error(error, 'Invalid certificate ignored; the previous one stays in use', { server: name })
  }
}

async function serve(
  options: ListenOptions,
  request: IncomingMessage,
  response: ServerResponse,
  account: BodyAccount,
): Promise<void> {
  const incoming = new IncomingBody(request, account)
  response.once('close', () => incoming.done())
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the client disconnected')))
  const { status, headers, body, chunks } = await answer(
    options.handler,
    toRequest(request, incoming, gone.signal),
    options,
  )
  if (response.destroyed) return
  const bytes = Buffer.from(body)
  if (chunks !== undefined) {
    response.writeHead(status, headers)
    response.write(bytes)
    // A failure, or a client that disconnects, destroys the response: there is no status left to send.
    await process
      .getBuiltinModule('node:stream/promises')
      .pipeline(chunks, response)
      .catch((error: unknown) => {
        if (!gone.signal.aborted)
          options.log.error(error, 'Request failed', { server: options.name, path: request.url })
      })
    return
  }
  response.writeHead(status, { ...headers, 'content-length': String(bytes.byteLength) })
  response.end(request.method === 'HEAD' ? undefined : bytes)
  // Discards a body that the handler did not read, so that it does not block the connection.
  incoming.done()
}

async function answer(
  handler: HttpHandler,
  request: HttpRequest | undefined,
  { name, log }: { readonly name: string; readonly log: Logger },
): Promise<HttpResponse> {
  if (request === undefined) return { status: 400, body: 'Bad Request\n' }
  try {
    return await handler(request)
  } catch (error) {
    if (!request.signal.aborted) log.error(error, 'Request failed', { server: name, path: request.path })
    return { status: 500, body: 'Internal Server Error\n' }
  }
}

function toRequest(request: IncomingMessage, incoming: IncomingBody, signal: AbortSignal): HttpRequest | undefined {
  try {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, Array.isArray(value) ? value.join(', ') : value]),
    )
    const remoteAddress = request.socket.remoteAddress ?? ''
    const method = request.method ?? 'GET'
    const path = decodeURIComponent(pathname)
    const text = (maxBytes: number): Promise<string> => readText(incoming, maxBytes)
    return { method, path, query: searchParams, headers, remoteAddress, signal, text }
  } catch {
    return undefined
  }
}

async function readText(incoming: IncomingBody, maxBytes: number): Promise<string> {
  const body = await incoming.read(maxBytes)
  if (body === 'too large') throw new RangeError(`The body of the request is longer than ${maxBytes} bytes`)
  if (typeof body === 'string') throw new RangeError(`The body of the request was not read: ${body}`)
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}

function listenError(name: string, address: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const flag = name === 'console' ? '--port' : `--${name === 'probes' ? 'health-probe' : name}-bind-address`
  const fix =
    code === 'EADDRINUSE'
      ? `stop the program that uses it, or choose another address with ${flag}`
      : code === 'EACCES'
        ? `choose a port above 1023 with ${flag}`
        : `check ${flag}`
  const problem = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not permitted' : `failed (${message})`
  return new KubewrightError('KW_LISTEN', `Cannot serve ${name} at ${address} as that address ${problem}: ${fix}`, {
    cause: error,
  })
}
