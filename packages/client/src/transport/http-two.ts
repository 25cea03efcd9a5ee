import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import { abortable, type Clock, every, onAbort, type Timer } from '@kubewright/base'
import type { HttpAnswer, HttpConnections } from './http-connections.ts'
import { type DialOptions, dial } from './http-dial.ts'
import type { TransportRequest } from './transport.ts'

/** As client-go: a connection that was silent for so long is asked whether it is alive, and has this long to say so. */
const readIdle = 30_000
const pingTimeout = 15_000
const mebibyte = 1024 * 1024
/** What one connection may have under way towards us: a long list must not hold up the other streams. */
const connectionWindow = 16 * mebibyte
const streamWindow = 4 * mebibyte

/** One connection, and how many streams are open on it. */
class Session {
  readonly http: ClientHttp2Session
  readonly #clock: Clock
  #streams = 0
  #watchdog: Timer | undefined
  /** Ends the connection unless the answer to a ping cancels it. */
  #late: Timer | undefined

  constructor(http: ClientHttp2Session, clock: Clock) {
    this.http = http
    this.#clock = clock
    http.once('close', () => this.#late?.cancel())
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

  /** Notices that the other end is gone without having said so. */
  #ping(): void {
    const { http } = this
    if (http.destroyed) return
    this.#late = this.#clock.setTimer(pingTimeout, () => {
      http.destroy(Object.assign(new Error('no answer to a ping'), { code: 'ERR_HTTP2_PING_TIMEOUT' }))
    })
    if (!http.ping(() => this.#late?.cancel())) this.#late.cancel()
  }
}

/** A stream ended before its message did. */
class StreamReset extends Error {
  readonly code = 'ERR_HTTP2_STREAM_ERROR'
}

/** The server did not even begin with the request. */
class RefusedStream extends StreamReset {}

const maxRefusals = 5

/** HTTP/2: all requests on one connection; another one when the server limits how many that may be. */
export class HttpTwoConnections implements HttpConnections {
  readonly #options: DialOptions
  readonly #sessions = new Set<Session>()
  #dialing: Promise<Session> | undefined
  #closed = false

  private constructor(options: DialOptions) {
    this.#options = options
  }

  /** Starts with a connection that is open already. */
  static async open(options: DialOptions, first: Socket): Promise<HttpTwoConnections> {
    const connections = new HttpTwoConnections(options)
    await connections.#add(first)
    return connections
  }

  async send(request: TransportRequest): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(request)
      } catch (error) {
        // The one failure of which the server says that it has done nothing: even a write can be sent again.
        if (!(error instanceof RefusedStream) || attempt >= maxRefusals) throw error
      }
    }
  }

  async #attempt(request: TransportRequest): Promise<HttpAnswer> {
    let session = this.#free()
    while (session === undefined) {
      // One dials, the others wait for it and look again: it may be full by then.
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
      // The signal of one request must not end what others wait for.
      const socket = await dial({ ...this.#options, protocols: ['h2'], signal: undefined })
      return await this.#add(socket)
    } finally {
      this.#dialing = undefined
    }
  }

  /** A session counts from when the server's limits are known: requests beyond them would be refused. */
  async #add(socket: Socket): Promise<Session> {
    const http = connect(this.#options.server.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      // The default of 10 MiB fails every other request of a connection while one large answer waits to be read.
      maxSessionMemory: 1000,
    })
    http.once('connect', () => http.setLocalWindowSize(connectionWindow))
    const session = new Session(http, this.#options.clock)
    // Every stream reports it by itself.
    http.on('error', () => undefined)
    http.once('goaway', () => http.close())
    http.once('close', () => this.#sessions.delete(session))
    await new Promise<void>((resolve, reject) => {
      http.once('remoteSettings', () => resolve())
      http.once('error', reject)
      http.once('close', () => reject(new StreamReset('the connection was closed at once')))
    })
    if (this.#closed) {
      http.destroy()
      throw new StreamReset('the transport is closed')
    }
    this.#sessions.add(session)
    // The process may end while a connection is merely kept.
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

function exchange(session: Session, server: URL, request: TransportRequest): Promise<HttpAnswer> {
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
    const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL)
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
      const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
      reject(refused ? new RefusedStream(error.message) : error)
    })
    // A reset looks like an end to those who read.
    const breakOff = (): Error | undefined =>
      stream.rstCode ? new StreamReset(`the stream was reset with code ${stream.rstCode}`) : undefined
    stream.once('response', (received) => {
      resolve({ breakOff, status: Number(received[':status'] ?? 0), headers: distinct(received), stream, cancel })
    })
    if (body !== undefined) stream.end(body)
  })
}

/** Of the headers that Node joins, only the one whose values must be told apart needs care: it keeps no list of them. */
function distinct(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): Record<string, readonly string[]> {
  const result: Record<string, readonly string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || value === undefined) continue
    result[name] = Array.isArray(value) ? value : [String(value)]
  }
  return result
}
