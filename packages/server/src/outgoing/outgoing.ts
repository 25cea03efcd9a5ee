import type { ClientRequest, IncomingMessage, Agent as PlainAgent } from 'node:http'
import type { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import { CaughtError, systemClock } from '@kubewright/base'
import { connectionErrorText } from './connection-error-text.ts'
import { type HandshakeOptions, verifyingAgent } from './verifying-agent.ts'

/** TLS settings of a connection that the server opens. */
export interface OutgoingTls {
  /** PEM of the trusted CAs. @default the CAs of the system */
  readonly ca?: string | undefined
  /** Whether to accept any certificate. @default false */
  readonly insecure?: boolean | undefined
  /** The name that the certificate must have. @default the host of the URL */
  readonly serverName?: string | undefined
  /** PEM of the client certificate. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** The address of a connection. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A request that this server sends to another server. */
export interface OutgoingRequest {
  readonly method: string
  readonly url: URL
  /**
   * Path and query exactly as sent. The URL parser normalizes paths, but the server must send the path that it authorized. @default
   * path and query of the URL
   */
  readonly target?: string | undefined
  /** Resolves the address to connect to, if it is not the host of the URL. Its errors are passed through. */
  readonly connectTo?: (() => Promise<HostPort>) | undefined
  /** A list repeats the header. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | undefined
  readonly tls?: OutgoingTls | undefined
  /** Whether the headers ask for a protocol upgrade. @default false */
  readonly upgrade?: boolean | undefined
  /** Cancels the request, and later the body of the response. */
  readonly signal?: AbortSignal | undefined
}

/** A response with a streamed body. */
export interface OutgoingResponse {
  readonly status: number
  /** Names in lower case, values of repeated headers in order. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: AsyncIterable<Uint8Array>
  /** With status 101: the upgraded connection, which the caller must close. */
  readonly upgraded?: Duplex | undefined
}

/** The request got no response. The message uses the texts of Go's net package, which clients know from kube-apiserver. */
export class OutgoingError extends CaughtError {
  override readonly name = 'OutgoingError'
}

/** Sends a request over HTTPS, or over HTTP when the URL says so. Rejects with {@link OutgoingError}, or with the reason of the signal when it aborts. */
export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingResponse>

/** How many TLS settings keep idle connections. Every webhook and extension server has its own settings. */
const maxAgents = 64
const agents = new Map<string, Agent>()
let plainAgent: PlainAgent | undefined

// Loaded with the first connection, as most servers open none.
const http = () => process.getBuiltinModule('node:http')
const https = () => process.getBuiltinModule('node:https')

/** {@link Outgoing} over real connections, which are reused by later requests to the same address. */
export const systemOutgoing: Outgoing = async (request) => {
  try {
    return await attempt(request)
  } catch (error) {
    // The peer may have closed the idle connection; a new one can succeed.
    if (error instanceof StaleConnection && mayRepeat(request, error.cause)) return attempt(request)
    throw error
  }
}

/** A reused connection broke before any byte of the response arrived. */
class StaleConnection extends OutgoingError {
  override readonly cause: NodeJS.ErrnoException

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message)
    this.cause = cause
  }
}

const repeatable = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/**
 * Whether a retry cannot execute the request twice, by the rules of Go's transport: the method only reads, or the first attempt was
 * not sent completely.
 */
function mayRepeat({ method, body }: OutgoingRequest, { syscall }: NodeJS.ErrnoException): boolean {
  return (repeatable.includes(method) && body === undefined) || syscall === 'write'
}

async function attempt(request: OutgoingRequest): Promise<OutgoingResponse> {
  const { method, url, connectTo, headers, body, tls = {}, signal } = request
  const isPlain = url.protocol === 'http:'
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const { host, port } = (await connectTo?.()) ?? {
    host: hostname,
    port: Number(url.port || (isPlain ? 80 : 443)),
  }
  const serverName = tls.serverName ?? hostname
  // Lets idle connections notice in one turn of the event loop that the peer closed them.
  await new Promise((resolve) => setImmediate(resolve))
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const common = {
      method,
      host,
      port,
      path: request.target ?? `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        ...(headers as Record<string, string | string[]>),
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      ...(signal ? { signal } : {}),
    }
    const secure = (): ClientRequest => {
      const handshake: HandshakeOptions = { handshakeSignal: signal }
      // IP addresses are invalid in the server name indication of TLS.
      const servername = isAddress(serverName) ? '' : serverName
      return https().request({ ...handshake, ...common, servername, agent: agentFor(tls, serverName) })
    }
    const plain = (): ClientRequest => {
      plainAgent ??= new (http().Agent)({ keepAlive: true })
      return http().request({ ...common, agent: plainAgent })
    }
    const outgoing = isPlain ? plain() : secure()
    outgoing.once('response', (response) => resolve(received(response)))
    // Without a listener for `upgrade`, Node destroys the connection of an upgraded response.
    if (request.upgrade) {
      outgoing.once('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ ...received(response), upgraded: socket })
      })
    }
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (signal?.aborted) reject(signal.reason as Error)
      else {
        const text = connectionErrorText(error, { host, port })
        const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(stale ? new StaleConnection(text, error) : new OutgoingError(text, { cause: error }))
      }
    })
    outgoing.end(body)
  })
}

function received(response: IncomingMessage): OutgoingResponse {
  const headers: Record<string, string[]> = {}
  for (const [name, values] of Object.entries(response.headersDistinct)) if (values) headers[name] = values
  return { status: response.statusCode ?? 0, headers, body: response }
}

function agentFor({ ca, insecure = false, cert, key }: OutgoingTls, serverName: string): Agent {
  const id = JSON.stringify([ca, insecure, serverName, cert])
  let agent = agents.get(id)
  if (agent) agents.delete(id)
  else {
    const options = { keepAlive: true, ...(cert === undefined || key === undefined ? {} : { cert, key }) }
    agent = insecure
      ? new (https().Agent)({ ...options, rejectUnauthorized: false })
      : verifyingAgent({ ca, serverName, clock: systemClock }, options)
  }
  // The map is ordered by use: the first entry is the least recently used one.
  agents.set(id, agent)
  if (agents.size > maxAgents) {
    const [oldest, unused] = agents.entries().next().value!
    unused.destroy()
    agents.delete(oldest)
  }
  return agent
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^\d+(\.\d+){3}$/.test(host)
}
