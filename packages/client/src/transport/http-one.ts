import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { onAbort } from '@kubewright/base'
import type { HttpConnections, HttpResponse } from './http-connections.ts'
import { type DialOptions, dial } from './http-dial.ts'
import { http } from './node-modules.ts'
import type { TransportRequest } from './transport.ts'

/** The maximum number of idle connections, as in client-go. */
const maxIdle = 25
/**
 * Shorter than the 90 seconds after which kube-apiserver closes idle connections, so that a connection is not reused
 * while it closes.
 */
const idleTimeout = 80_000

/** Returns an agent that opens connections with `dialNew`. */
function dialingAgent(dialNew: () => Promise<Duplex>): Agent {
  const agent = new (http().Agent)({ keepAlive: true, maxFreeSockets: maxIdle, timeout: idleTimeout })
  agent.createConnection = (_, give) => {
    dialNew().then(
      (socket) => give?.(null, socket),
      // The type requires a socket, but it is not used when there is an error.
      (error: Error) => give?.(error, undefined as unknown as Duplex),
    )
    return undefined
  }
  return agent
}

/** HTTP/1.1: one request at a time per connection, and one connection per concurrent request. */
export class HttpOneConnections implements HttpConnections {
  readonly #options: DialOptions
  readonly #agent: Agent
  readonly #open = new Set<ClientRequest>()

  /** `first` is a connection that is already open, if any. */
  constructor(options: DialOptions, first?: Duplex) {
    this.#options = options
    let unused = first
    this.#agent = dialingAgent(async () => {
      const socket = unused
      unused = undefined
      return socket && !socket.destroyed ? socket : dial({ ...options, protocols: ['http/1.1'] })
    })
  }

  send(request: TransportRequest): Promise<HttpResponse> {
    const { method, path, headers = {}, body, signal } = request
    return new Promise((resolve, reject) => {
      const outgoing = http().request({
        agent: this.#agent,
        method,
        path,
        headers: {
          host: this.#options.server.host,
          ...(headers as Record<string, string | string[]>),
          ...(body === undefined ? {} : { 'content-length': String(body.length) }),
        },
      })
      this.#open.add(outgoing)
      const cancel = (): void => void outgoing.destroy()
      const stopListening = onAbort(signal, cancel)
      outgoing.once('close', () => {
        stopListening()
        this.#open.delete(outgoing)
      })
      outgoing.once('response', (response: IncomingMessage) => {
        // The timeout is for idle connections, not for slow responses.
        response.socket.setTimeout(0)
        resolve({ status: response.statusCode ?? 0, headers: response.headersDistinct, stream: response, cancel })
      })
      outgoing.once('error', (error: NodeJS.ErrnoException) => {
        // The server may have closed a reused connection just before the request, which says nothing about a new
        // connection. Only reads are sent again: the server may have executed anything else.
        const stale = outgoing.reusedSocket && error.code === 'ECONNRESET' && !signal?.aborted
        if (stale && (method === 'GET' || method === 'HEAD')) this.send(request).then(resolve, reject)
        else reject(error)
      })
      outgoing.end(body)
    })
  }

  get isIdle(): boolean {
    return this.#open.size === 0
  }

  retire(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
    this.#agent.maxFreeSockets = 0
  }

  close(): void {
    for (const outgoing of this.#open) outgoing.destroy()
    this.#agent.destroy()
  }
}
