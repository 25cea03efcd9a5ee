import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SecureServerOptions, ServerHttp2Session } from 'node:http2'
import type { Server, ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import {
  BodyBudget,
  CaughtError,
  defineBudget,
  IncomingBody,
  KubewrightError,
  type Logger,
  nullLogger,
} from '@kubewright/base'
import type { HealthCheck } from '../serving/health/health-check.ts'
import type { CertificateSource } from '../serving/http/http-listener.ts'
import { connectionOf, maxConcurrentStreams } from '../serving/http/system-http-listener.ts'
import { maxReviewBytes, tooLargeResponse } from './admission/admission-review.ts'
import { notFoundResponse, textResponse, type WebhookHandler, type WebhookResponse } from './webhook-request.ts'

/** Options of {@link serveWebhooks}. */
export interface ServeWebhooksOptions {
  readonly handler: WebhookHandler
  readonly certificate: CertificateSource
  /** 0 lets the operating system choose one. @default 9443 */
  readonly port?: number | undefined
  /** The address to bind; empty for all interfaces. @default '' */
  readonly host?: string | undefined
  /**
   * The certificate authorities (PEM) that must have issued the clients' certificates. @default clients need no
   * certificate
   */
  readonly clientCa?: string | undefined
  /** Whether to offer HTTP/2 too. @default false */
  readonly http2?: boolean | undefined
  /** @default no log */
  readonly log?: Logger | undefined
}

/** A running webhook server. Disposing it waits for open requests and closes idle connections at once. */
export interface ServedWebhooks extends AsyncDisposable {
  readonly port: number
  /** Fails when the server does not accept connections. */
  readonly health: HealthCheck
  /** Aborts open requests. */
  close(): void
}

// The limits of controller-runtime.
const limits = { headersTimeout: 32_000, requestTimeout: 60_000, keepAliveTimeout: 90_000, maxHeaderSize: 1024 * 1024 }
/** Reviews in memory, until they are answered. */
const bodyLimits = {
  total: defineBudget(64 * 1024 * 1024, {
    group: 'other',
    what: 'bytes of reviews in memory, webhook server of an operator',
    unit: 'bytes',
    shown: '{}, 32 MiB of one connection',
    answer: '429',
  }),
  connection: 32 * 1024 * 1024,
}

/** Serves a webhook handler over TLS. A new certificate is used from the next connection on, without a restart. */
export async function serveWebhooks(options: ServeWebhooksOptions): Promise<ServedWebhooks> {
  const { handler, certificate, port = 9443, host = '', clientCa, http2 = false, log = nullLogger } = options
  const context = () => ({
    ...certificate.current(),
    minVersion: 'TLSv1.2' as const,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
  })
  const tls = {
    ...limits,
    ...context(),
    ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: true }),
  }
  // With HTTP/2 the server offers both protocols on one port. For the events used here it behaves like an HTTPS server.
  const server = http2
    ? (secureServer({ ...tls, settings: { maxConcurrentStreams }, allowHTTP1: true }) as unknown as Server)
    : httpsServer(tls)
  const bodies = new BodyBudget(bodyLimits)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  // HTTP/1 connections and their open requests. Node does not count a connection without any request as idle, and clients
  // such as kube-apiserver leave some open.
  const connections = new Map<Socket, number>()
  server.on('secureConnection', (socket: Socket) => {
    connections.set(socket, 0)
    socket.once('close', () => connections.delete(socket))
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const count = connections.get(request.socket)
    if (count !== undefined) {
      connections.set(request.socket, count + 1)
      response.once('close', () => {
        if (connections.has(request.socket)) connections.set(request.socket, connections.get(request.socket)! - 1)
      })
    }
    const incoming = new IncomingBody(request, bodies.accountOf(connectionOf(request)))
    response.once('close', () => incoming.done())
    answer(handler, request, incoming, response, () => server.listening).catch((error: unknown) => {
      // Handlers never reject; if one does anyway, it must not end the process.
      if (!response.destroyed) log.error(error, 'Webhook request failed', { path: request.url })
      response.destroy()
    })
  })
  server.on('clientError', (_, socket) => void socket.destroy())
  server.on('tlsClientError', (error) => log.debug('TLS handshake failed', { reason: error.message }))
  server.listen(port, host === '' ? undefined : host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw listenError(`${host}:${port}`, cause)
  }
  const reload = certificate.onChange(() => {
    try {
      server.setSecureContext(context())
    } catch (error) {
      log.error(error, 'Invalid webhook certificate ignored; the previous one stays in use')
    }
  })
  const address = server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  log.info('Serving webhook server', { host, port: bound })
  return {
    port: bound,
    health: {
      name: 'webhook',
      check: () => {
        if (!server.listening) throw new CaughtError('webhook server has not been started yet')
      },
    },
    close: () => {
      server.closeAllConnections?.()
      for (const session of sessions) session.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      reload[Symbol.dispose]()
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections?.()
      if (!http2) for (const [socket, requests] of connections) if (requests === 0) socket.destroy()
      // Makes clients open new connections elsewhere; closes when the open requests have ended.
      for (const session of sessions) session.close()
      await closed
    },
  }
}

// Loaded when a server starts, as most operators have no webhooks, and HTTP/2 is off by default.
const httpsServer = (options: ServerOptions) => process.getBuiltinModule('node:https').createServer(options)
const secureServer = (options: SecureServerOptions) =>
  process.getBuiltinModule('node:http2').createSecureServer(options)

async function answer(
  handler: WebhookHandler,
  request: IncomingMessage,
  incoming: IncomingBody,
  response: ServerResponse,
  isServing: () => boolean,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort(new Error('the client disconnected')))
  const answered = await responseTo(handler, request, incoming, gone.signal)
  if (answered === undefined || response.destroyed) return
  response.writeHead(answered.status, {
    ...(answered.headers as Record<string, string[]>),
    // Closes the connection after a body that was too long, and when the server stops.
    ...(request.httpVersionMajor > 1 || (request.complete && isServing()) ? {} : { connection: 'close' }),
    'content-length': String(answered.body.byteLength),
  })
  response.end(answered.body)
}

/** Reads the body only if the handler serves the path. Undefined if the client has disconnected. */
async function responseTo(
  handler: WebhookHandler,
  { method = 'GET', url: path = '/', headers }: IncomingMessage,
  incoming: IncomingBody,
  signal: AbortSignal,
): Promise<WebhookResponse | undefined> {
  if (handler.serves?.(path) === false) return notFoundResponse()
  const body = await incoming.read(maxReviewBytes)
  if (body === 'too large') return tooLargeResponse()
  if (body === 'over budget')
    return textResponse(429, 'Too many requests: the bodies of other requests fill the memory')
  if (typeof body === 'string') return undefined
  return handler({ method, path, headers, body, signal })
}

function listenError(address: string, cause: unknown): KubewrightError {
  const { code, message } = cause as NodeJS.ErrnoException
  const problem = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not permitted' : `failed (${message})`
  const text = `Cannot serve webhooks at ${address} as that address ${problem}`
  return new KubewrightError('KW_LISTEN', `${text}: choose another port with --webhook-port`, { cause })
}
