import type { IncomingMessage } from 'node:http'
import { Agent, request as send } from 'node:https'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import { connectionErrorText } from './connection-error-text.ts'

/** How the other end has to prove who it is, and how we do. */
export interface OutgoingTls {
  /** PEM of the authorities that are trusted. @default the system's */
  readonly ca?: string | undefined
  /** Whether any certificate will do. @default false */
  readonly insecure?: boolean | undefined
  /** The name that the certificate must have. @default the host of the address */
  readonly serverName?: string | undefined
  /** PEM of our own certificate and its key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** One end of a connection. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** A request that this server sends to another one. */
export interface OutgoingRequest {
  readonly method: string
  readonly url: URL
  /**
   * Path and query exactly as they are to be sent: an address is normalized, and what was authorized must not be.
   * @default those of the address
   */
  readonly target?: string | undefined
  /** Finds out where to connect to, when that is not the host of the address; what it throws is thrown. */
  readonly connectTo?: (() => Promise<HostPort>) | undefined
  /** A list sends the header as many times. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | undefined
  readonly tls?: OutgoingTls | undefined
  /** Whether the headers ask for another protocol, which the answer may then go on with. @default false */
  readonly upgrade?: boolean | undefined
  /** Ends the request, and after it the body of the answer. */
  readonly signal?: AbortSignal | undefined
}

/** An answer whose body is read as it comes. */
export interface OutgoingResponse {
  readonly status: number
  /** Lower-case names; the values of a repeated header in order. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: AsyncIterable<Uint8Array>
  /** With status 101: the connection, which the caller has to end. */
  readonly upgraded?: Duplex
}

/** A failure to get an answer at all, in the words of Go's net package, which clients know from kube-apiserver. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Sends a request over HTTPS. Rejects with {@link ConnectionError}, or with the signal's reason when that aborts. */
export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingResponse>

/** How many different TLS settings keep their connections open; there are as many as webhooks and extension servers. */
const maxAgents = 64
const agents = new Map<string, Agent>()

/** {@link Outgoing} over real connections, which are kept for the next request to the same place. */
export const systemOutgoing: Outgoing = async (request) => {
  try {
    return await attempt(request)
  } catch (error) {
    // A kept connection may have been closed by the other end just now; that says nothing about a new one.
    if (error instanceof StaleConnection && mayRepeat(request, error.cause)) return attempt(request)
    throw error
  }
}

/** The connection was an old one and broke before anything came back. */
class StaleConnection extends ConnectionError {
  override readonly cause: NodeJS.ErrnoException

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message)
    this.cause = cause
  }
}

const repeatable = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

/**
 * Whether sending a request again cannot make the other end act twice, as Go's transport sees it: because it only reads, or because
 * the first one never left. Nobody acts on a request that could not be written to its end.
 */
function mayRepeat({ method, body }: OutgoingRequest, { syscall }: NodeJS.ErrnoException): boolean {
  return (repeatable.includes(method) && body === undefined) || syscall === 'write'
}

async function attempt(request: OutgoingRequest): Promise<OutgoingResponse> {
  const { method, url, connectTo, headers, body, tls = {}, signal } = request
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  const { host, port } = (await connectTo?.()) ?? { host: hostname, port: Number(url.port || 443) }
  const serverName = tls.serverName ?? hostname
  // A turn of the event loop, in which kept connections notice that the other end closed them meanwhile.
  await new Promise((resolve) => setImmediate(resolve))
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const outgoing = send({
      agent: agentFor(tls, serverName),
      method,
      host,
      port,
      path: request.target ?? `${url.pathname}${url.search}`,
      // An address is no name that TLS could ask for.
      ...(isAddress(serverName) ? { servername: '' } : { servername: serverName }),
      headers: {
        host: url.host,
        ...(headers as Record<string, string | string[]>),
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      ...(signal ? { signal } : {}),
    })
    outgoing.once('response', (response) => resolve(received(response)))
    // Without a listener Node refuses to switch, which nobody asked for.
    if (request.upgrade) {
      outgoing.once('upgrade', (response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve({ ...received(response), upgraded: socket })
      })
    }
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      if (signal?.aborted) reject(signal.reason as Error)
      else {
        const text = connectionErrorText(error, { host, port, serverName })
        const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
        reject(stale ? new StaleConnection(text, error) : new ConnectionError(text, { cause: error }))
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
    agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: !insecure,
      // One function for all requests: Node keeps connections apart that were checked by another.
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate),
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    })
  }
  // The map's order is that of use: the first one has not been used for the longest time.
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
