import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  IncomingHttpStatusHeader,
  OutgoingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import { abortable, CaughtError, type Clock, every, onAbort, type Timer } from '@kubewright/base'
import type { HttpConnections, HttpResponse } from './http-connections.ts'
import { type DialOptions, dial } from './http-dial.ts'
import { http2 } from './node-modules.ts'
import type { TransportRequest } from './transport.ts'

/** As in client-go: the interval between pings, and the time in which the server must answer one. */
const readIdle = 30_000
const pingTimeout = 15_000
const mebibyte = 1024 * 1024
/** The flow-control window of a connection. Large, so that a long list does not block the other streams. */
const connectionWindow = 16 * mebibyte
const streamWindow = 4 * mebibyte

/** One connection and the number of its open streams. */
class Session {
  readonly http: ClientHttp2Session
  readonly #clock: Clock
  #streams = 0
  #watchdog: Timer | undefined
  /** Ends the connection unless the answer to a ping cancels the timer. */
  #pingDeadline: Timer | undefined

  constructor(http: ClientHttp2Session, clock: Clock) {
    this.http = http
    this.#clock = clock
    http.once('close', () => this.#pingDeadline?.cancel())
  }

  get hasRoom(): boolean {
    const { http } = this
    return !http.closed && !http.destroyed && this.#streams < (http.remoteSettings?.maxConcurrentStreams ?? 100)
  }

  opened(): void {
    if (this.#streams++ > 0) return
    this.http.ref()
    this.#watchdog = every(this.#clock, readIdle, () => this.#ping(), 'HTTP/2 health check')
  }

  closed(): void {
    if (--this.#streams > 0) return
    this.#watchdog?.cancel()
    if (!this.http.destroyed) this.http.unref()
  }

  /** Detects a peer that vanished without closing the connection. */
  #ping(): void {
    const { http } = this
    if (http.destroyed) return
    this.#pingDeadline = this.#clock.setTimer(pingTimeout, () => {
      http.destroy(Object.assign(new Error('the server did not answer a ping'), { code: 'ERR_HTTP2_PING_TIMEOUT' }))
    })
    if (!http.ping(() => this.#pingDeadline?.cancel())) this.#pingDeadline.cancel()
  }
}

/** A stream ended before its message was complete. */
class StreamReset extends CaughtError {
  readonly code = 'ERR_HTTP2_STREAM_ERROR'
}

/** The server rejected the stream before processing the request. */
class RefusedStream extends StreamReset {}

const maxRefusals = 5

/** HTTP/2: all requests share one connection; more are opened when the server limits the number of streams. */
export class HttpTwoConnections implements HttpConnections {
  readonly #options: DialOptions
  readonly #sessions = new Set<Session>()
  #dialing: Promise<Session> | undefined
  #closed = false

  private constructor(options: DialOptions) {
    this.#options = options
  }

  /** Creates the connections from an already open socket. */
  static async open(options: DialOptions, first: Socket): Promise<HttpTwoConnections> {
    const connections = new HttpTwoConnections(options)
    await connections.#add(first)
    return connections
  }

  async send(request: TransportRequest): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request)
      } catch (error) {
        // With this failure the server guarantees that it did not process the request, so even a write can be sent again.
        if (!(error instanceof RefusedStream) || attempt >= maxRefusals) throw error
      }
    }
  }

  async #attempt(request: TransportRequest): Promise<HttpResponse> {
    let session = this.#free()
    while (session === undefined) {
      // Concurrent requests share one dial. Check again afterwards, because the new connection may already be full.
      await abortable((this.#dialing ??= this.#dial()), request.signal)
      session = this.#free()
    }
    return exchange(session, this.#options.server, request)
  }

  #free(): Session | undefined {
    for (const session of this.#sessions) {
      if (session.hasRoom) return session
    }
    return undefined
  }

  async #dial(): Promise<Session> {
    try {
      // No signal: the abort of one request must not end a dial that others await.
      const socket = await dial({ ...this.#options, protocols: ['h2'], signal: undefined })
      return await this.#add(socket)
    } finally {
      this.#dialing = undefined
    }
  }

  /** Adds a session when the server's settings have arrived, because requests beyond its stream limit would be rejected. */
  async #add(socket: Socket): Promise<Session> {
    const http = http2().connect(this.#options.server.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      // With the default of 10 MiB, all other requests of a connection fail while a large response waits to be read.
      maxSessionMemory: 1000,
    })
    http.once('connect', () => http.setLocalWindowSize(connectionWindow))
    const session = new Session(http, this.#options.clock)
    // Ignored here: every stream reports the error itself.
    http.on('error', () => undefined)
    http.once('goaway', () => http.close())
    http.once('close', () => this.#sessions.delete(session))
    await new Promise<void>((resolve, reject) => {
      http.once('remoteSettings', () => resolve())
      http.once('error', reject)
      http.once('close', () => reject(new StreamReset('the connection was closed before the settings arrived')))
    })
    if (this.#closed) {
      http.destroy()
      throw new StreamReset('the transport is closed')
    }
    this.#sessions.add(session)
    // An idle connection must not keep the process alive.
    http.unref()
    return session
  }

  get isIdle(): boolean {
    return this.#sessions.size === 0
  }

  retire(): void {
    for (const { http } of this.#sessions) http.close()
  }

  close(): void {
    this.#closed = true
    for (const { http } of this.#sessions) http.destroy()
  }
}

function exchange(session: Session, server: URL, request: TransportRequest): Promise<HttpResponse> {
  const { method, path, headers = {}, body, signal } = request
  return new Promise((resolve, reject) => {
    const outgoing: OutgoingHttpHeaders = {
      ...(headers as OutgoingHttpHeaders),
      ':method': method,
      ':path': path,
      ':scheme': server.protocol.slice(0, -1),
      ':authority': server.host,
    }
    if (body !== undefined) outgoing['content-length'] = body.length
    let stream: ClientHttp2Stream
    try {
      stream = session.http.request(outgoing, { endStream: body === undefined })
    } catch (error) {
      return reject(error as Error)
    }
    session.opened()
    const cancel = (): void => stream.close(http2().constants.NGHTTP2_CANCEL)
    const stopListening = onAbort(signal, () => {
      cancel()
      reject(signal?.reason as Error)
    })
    stream.once('close', () => {
      stopListening()
      session.closed()
      reject(new StreamReset('the stream was closed'))
    })
    stream.once('error', (error) => {
      const refused = stream.rstCode === http2().constants.NGHTTP2_REFUSED_STREAM
      reject(refused ? new RefusedStream(error.message) : error)
    })
    // To a reader, a reset looks like a regular end.
    const truncation = (): Error | undefined =>
      stream.rstCode ? new StreamReset(`the stream was reset with code ${stream.rstCode}`) : undefined
    stream.once('response', (received) => {
      resolve({ truncation, status: Number(received[':status'] ?? 0), headers: distinct(received), stream, cancel })
    })
    if (body !== undefined) stream.end(body)
  })
}

/** The headers as lists. Node joins repeated headers, except set-cookie, which is already a list. */
function distinct(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): Record<string, readonly string[]> {
  const result: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || value === undefined) continue
    result[name] = Array.isArray(value) ? value : [String(value)]
  }
  return result
}
