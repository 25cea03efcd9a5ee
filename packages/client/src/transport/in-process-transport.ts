import type { ApiHandler, ApiRequest, ApiResponse, BodySink, RequestPeer } from '@kubewright/api'
import { type Defined, type LazySignal, type LinkedController, linkSignals, systemRandom } from '@kubewright/base'
import { ByteStream } from './byte-stream.ts'
import { ConnectionError, connectionProblem } from './connection-error.ts'
import { stream } from './node-modules.ts'
import type {
  MessageConnection,
  Transport,
  TransportBody,
  TransportRequest,
  TransportResponse,
  UpgradeRequest,
} from './transport.ts'
import { WebSocketConnection } from './web-socket-connection.ts'

/** Options of {@link inProcessTransport}. */
export interface InProcessTransportOptions {
  readonly handler: ApiHandler
  /** @default an unauthenticated client on this machine, whose requests need a token */
  readonly peer?: RequestPeer | undefined
  /** The name in messages. @default 'in-process' */
  readonly host?: string | undefined
  /** Called before each request, which waits for the returned promise, if any. Pass `turnWhenDue` where time is real. */
  readonly pause?: (() => Promise<void> | undefined) | undefined
}

/** A transport that calls a server's handler directly: no socket and no encoding. Deterministic. */
export function inProcessTransport(options: InProcessTransportOptions): Transport {
  return new InProcessTransport(options)
}

class InProcessTransport implements Transport {
  readonly host: string
  readonly #handler: ApiHandler
  readonly #peer: RequestPeer
  readonly #pause: () => Promise<void> | undefined
  readonly #closing = linkSignals()
  readonly #known = new WeakMap<object, ReceivedHeaders>()

  constructor({ handler, peer = { address: '127.0.0.1' }, host = 'in-process', pause }: InProcessTransportOptions) {
    this.#handler = handler
    this.#peer = peer
    this.#pause = pause ?? (() => undefined)
    this.host = host
  }

  async send(request: TransportRequest, limited?: LazySignal): Promise<TransportResponse> {
    const pause = this.#pause()
    if (pause !== undefined) await pause
    const link = linkSignals(limited ?? request.signal, this.#closing)
    try {
      const answer = await this.#call(request, link)
      return { status: answer.status, headers: headersOf(answer), body: this.#body(answer, link, request.method) }
    } catch (error) {
      link[Symbol.dispose]()
      throw this.#failure(error, link)
    }
  }

  /** The connection is a pair of streams in memory, which carries WebSocket frames as a socket would. */
  async upgrade(request: UpgradeRequest): Promise<MessageConnection | TransportResponse> {
    const { path, headers, protocols } = request
    const link = linkSignals(request.signal, this.#closing)
    try {
      const handshake = {
        ...headers,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        'sec-websocket-protocol': protocols.join(', '),
      }
      const answer = await this.#call({ method: 'GET', path, headers: handshake }, link)
      if (answer.status !== 101 || answer.upgraded === undefined) {
        return { status: answer.status, headers: headersOf(answer), body: this.#body(answer, link, 'GET') }
      }
      const [near, far] = stream().duplexPair()
      near.once('close', () => link[Symbol.dispose]())
      answer.upgraded(far)
      const protocol = headersOf(answer)['sec-websocket-protocol']?.[0] ?? ''
      const head = new Uint8Array()
      return await WebSocketConnection.over({
        stream: near,
        head,
        protocol,
        host: this.host,
        random: systemRandom,
        signal: link.signal,
      })
    } catch (error) {
      link[Symbol.dispose]()
      throw this.#failure(error, link)
    }
  }

  /** Rejects when the signal aborts, even if the handler takes time to react. */
  #call(request: TransportRequest, link: LinkedController): Promise<ApiResponse> {
    return new Promise((resolve, reject) => {
      const stopListening = link.onAbort(() => reject(link.reason))
      if (link.aborted) return
      this.#handler(this.#toHandler(request, link)).then(
        (response) => {
          stopListening()
          resolve(response)
        },
        (error: unknown) => {
          stopListening()
          reject(error)
        },
      )
    })
  }

  #toHandler({ method, path, headers = {}, body }: TransportRequest, link: LinkedController): ApiRequest {
    const at = path.indexOf('?')
    const received = this.#received(headers)
    return {
      method,
      path: at < 0 ? path : path.slice(0, at),
      query: new URLSearchParams(at < 0 ? '' : path.slice(at + 1)),
      headers: received.headers,
      rawHeaders: received.rawHeaders,
      // The server enforces the limit: it sees the size of the body.
      body: async () => body ?? new Uint8Array(),
      // Most requests end without reading it.
      get signal() {
        return link.signal
      },
      peer: this.#peer,
    }
  }

  /** The headers as the server receives them. A client sends the same frozen ones with each request. */
  #received(headers: NonNullable<TransportRequest['headers']>): ReceivedHeaders {
    let received = this.#known.get(headers)
    if (!received) {
      received = receivedHeaders(headers)
      if (Object.isFrozen(headers)) this.#known.set(headers, received)
    }
    return received
  }

  #body({ body }: ApiResponse, link: LinkedController, method: string): TransportBody {
    if (typeof body !== 'function' || method === 'HEAD') {
      link[Symbol.dispose]()
      return ByteStream.of(method === 'HEAD' || typeof body === 'function' ? undefined : body)
    }
    // Aborts the signal of the request, so that the handler stops when the reader has left.
    const stream = new ByteStream(() => link.abort(new Error('The reader has left')))
    const stopListening = link.onAbort(() => stream.fail(this.#failure(link.reason, link)))
    const sink: BodySink = { write: (chunk) => stream.write(chunk), drained: () => stream.drained() }
    body(sink)
      .then(
        () => stream.end(),
        (error: unknown) => stream.fail(this.#failure(error, link)),
      )
      .finally(() => {
        stopListening()
        link[Symbol.dispose]()
      })
    return stream
  }

  #failure(error: unknown, link: LinkedController): unknown {
    if (this.#closing.aborted) return new ConnectionError('the transport is closed', { host: this.host })
    if (link.aborted) return link.reason
    return new ConnectionError(connectionProblem(error), { host: this.host, cause: error })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('The transport is closed'))
  }
}

type ReceivedHeaders = Defined<Pick<ApiRequest, 'headers' | 'rawHeaders'>>

function receivedHeaders(sent: NonNullable<TransportRequest['headers']>): ReceivedHeaders {
  const headers: Record<string, string> = {}
  const rawHeaders: string[] = []
  for (const [name, value] of Object.entries(sent)) {
    const values = typeof value === 'string' ? [value] : value
    headers[name] = values.join(', ')
    for (const one of values) rawHeaders.push(name, one)
  }
  return { headers: Object.freeze(headers), rawHeaders: Object.freeze(rawHeaders) }
}

/** The headers of a response, with names in lower case. */
function headersOf(answer: ApiResponse): Record<string, readonly string[]> {
  const headers: Record<string, readonly string[]> = {}
  for (const name in answer.headers) {
    const value = answer.headers[name]!
    headers[name.toLowerCase()] = typeof value === 'string' ? [value] : value
  }
  return headers
}
