import type { TLSSocket } from 'node:tls'
import { abortable, type Clock, type Random, systemClock, systemRandom } from '@kubewright/base'
import { ConnectionError, connectionProblem } from './connection-error.ts'
import { HttpBody } from './http-body.ts'
import type { HttpConnections } from './http-connections.ts'
import { type DialOptions, dial, type TlsMaterial } from './http-dial.ts'
import { HttpOneConnections } from './http-one.ts'
import { HttpTwoConnections } from './http-two.ts'
import { upgrade } from './http-upgrade.ts'
import type { MessageConnection, Transport, TransportRequest, TransportResponse, UpgradeRequest } from './transport.ts'
import { WebSocketConnection } from './web-socket-connection.ts'

/** Options of {@link httpTransport}. */
export interface HttpTransportOptions {
  /**
   * `https://host:port`, or `http:` for a server without a certificate. A path is prepended to the path of every
   * request.
   */
  readonly server: string
  /**
   * The TLS material, read before every request. Returning a different object than before means that it has changed;
   * new connections are then opened with it.
   */
  readonly tls?: (() => Promise<TlsMaterial> | TlsMaterial) | undefined
  /** An HTTP proxy that supports CONNECT. */
  readonly proxy?: string | undefined
  /** Uses HTTP/2 where the server supports it; false always uses HTTP/1.1. @default true */
  readonly http2?: boolean | undefined
  /** Requests compressed responses. Useful when the network is the bottleneck. @default true */
  readonly compression?: boolean | undefined
  /** The clock for connection timeouts. @default the system clock */
  readonly clock?: Clock | undefined
  /** The source of WebSocket masks. @default the system's random source */
  readonly random?: Random | undefined
}

/** A transport over HTTP. Opens connections on demand and keeps them for later requests. */
export function httpTransport(options: HttpTransportOptions): Transport {
  return new HttpTransport(options)
}

const noMaterial: TlsMaterial = {}

class HttpTransport implements Transport {
  readonly host: string
  readonly #options: HttpTransportOptions
  readonly #server: URL
  readonly #prefix: string
  readonly #all = new Set<HttpConnections>()
  #material: TlsMaterial | undefined
  #current: Promise<HttpConnections> | undefined
  #closed = false

  constructor(options: HttpTransportOptions) {
    this.#options = options
    this.#server = new URL(options.server)
    this.#prefix = this.#server.pathname.replace(/\/+$/, '')
    this.host = this.#server.origin
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request
    try {
      signal?.throwIfAborted()
      const connections = await this.#connections(signal)
      const headers = {
        ...(this.#options.compression === false ? {} : { 'accept-encoding': 'gzip' }),
        ...request.headers,
      }
      const answer = await connections.send({ ...request, path: `${this.#prefix}${request.path}`, headers })
      const { stream, cancel, truncation } = answer
      const gzip = answer.headers['content-encoding']?.[0] === 'gzip'
      const body = new HttpBody(stream, { host: this.host, signal, gzip, cancel, truncation })
      return { status: answer.status, headers: answer.headers, body }
    } catch (error) {
      throw this.#failure(error, signal)
    }
  }

  async upgrade(request: UpgradeRequest): Promise<MessageConnection | TransportResponse> {
    const { signal } = request
    const { host } = this
    try {
      signal?.throwIfAborted()
      if (this.#closed) throw new ConnectionError('the transport is closed', { host })
      const { random = systemRandom } = this.#options
      const options = this.#dialOptions((await this.#options.tls?.()) ?? noMaterial)
      const answer = await upgrade(options, { ...request, path: `${this.#prefix}${request.path}` }, random)
      if ('head' in answer) return await WebSocketConnection.over({ ...answer, host, random, signal })
      const { status, headers, stream, cancel } = answer
      return { status, headers, body: new HttpBody(stream, { host, signal, gzip: false, cancel }) }
    } catch (error) {
      throw this.#failure(error, signal)
    }
  }

  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason
    if (error instanceof ConnectionError) return error
    return new ConnectionError(connectionProblem(error), { host: this.host, cause: error })
  }

  async #connections(signal: AbortSignal | undefined): Promise<HttpConnections> {
    const material = (await this.#options.tls?.()) ?? noMaterial
    if (this.#closed) throw new ConnectionError('the transport is closed', { host: this.host })
    if (this.#material !== material) {
      this.#material = material
      this.#retire()
    }
    this.#current ??= this.#connecting(material)
    return abortable(this.#current, signal)
  }

  /** Connects. Concurrent requests share the result; after a failure, the next request tries again. */
  #connecting(material: TlsMaterial): Promise<HttpConnections> {
    const connecting = this.#connect(material)
    connecting.catch(() => {
      if (this.#current === connecting) this.#current = undefined
    })
    return connecting
  }

  /** Stops using the current connections. They complete their requests. */
  #retire(): void {
    this.#current = undefined
    for (const connections of this.#all) {
      connections.retire()
      if (connections.isIdle) this.#all.delete(connections)
    }
  }

  #dialOptions(tls: TlsMaterial): DialOptions {
    const { http2 = true, proxy, clock = systemClock } = this.#options
    return {
      server: this.#server,
      tls,
      clock,
      protocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
      ...(proxy === undefined ? {} : { proxy: new URL(proxy) }),
    }
  }

  /** Opens the first connection, which determines the protocol of the server. */
  async #connect(tls: TlsMaterial): Promise<HttpConnections> {
    const options = this.#dialOptions(tls)
    const socket = await dial(options)
    const connections =
      (socket as Partial<TLSSocket>).alpnProtocol === 'h2'
        ? await HttpTwoConnections.open(options, socket)
        : new HttpOneConnections(options, socket)
    if (this.#closed) {
      connections.close()
      throw new ConnectionError('the transport is closed', { host: this.host })
    }
    this.#all.add(connections)
    return connections
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const connections of this.#all) connections.close()
    this.#all.clear()
  }
}
