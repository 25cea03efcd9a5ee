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
import { type Clock, every, onAbort, type Timer } from '@kubewright/base'
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

  constructor(http: ClientHttp2Session, clock: Clock) {
    this.http = http
    this.#clock = clock
    // The process may end while a connection is merely kept.
    http.unref()
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
    const late = this.#clock.setTimer(pingTimeout, () => {
      http.destroy(Object.assign(new Error('no answer to a ping'), { code: 'ERR_HTTP2_PING_TIMEOUT' }))
    })
    http.once('close', () => late.cancel())
    if (!http.ping(() => late.cancel())) late.cancel()
  }
}

/** HTTP/2: all requests on one connection; another one when the server limits how many that may be. */
export class HttpTwoConnections implements HttpConnections {
  readonly #options: DialOptions
  readonly #sessions = new Set<Session>()
  #dialing: Promise<Session> | undefined
  #closed = false

  constructor(options: DialOptions, first: Socket) {
    this.#options = options
    this.#add(first)
  }

  async send(request: TransportRequest): Promise<HttpAnswer> {
    let session = this.#free()
    while (session === undefined) {
      // One dials, the others wait for it and look again: it may be full by then.
      await (this.#dialing ??= this.#dial())
      request.signal?.throwIfAborted()
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
      if (this.#closed) {
        socket.destroy()
        throw Object.assign(new Error('the transport is closed'), { code: 'ERR_HTTP2_INVALID_SESSION' })
      }
      return this.#add(socket)
    } finally {
      this.#dialing = undefined
    }
  }

  #add(socket: Socket): Session {
    const http = connect(this.#options.server.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindow },
      // The default of 10 MiB fails every other request of a connection while one large answer waits to be read.
      maxSessionMemory: 1000,
    })
    http.once('connect', () => http.setLocalWindowSize(connectionWindow))
    const session = new Session(http, this.#options.clock)
    this.#sessions.add(session)
    // Every stream reports it by itself.
    http.on('error', () => undefined)
    http.once('goaway', () => http.close())
    http.once('close', () => this.#sessions.delete(session))
    return session
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
      reject(Object.assign(new Error('the stream was closed'), { code: 'ERR_HTTP2_STREAM_CANCEL' }))
    })
    stream.once('error', reject)
    stream.once('response', (received) => {
      resolve({ status: Number(received[':status'] ?? 0), headers: distinct(received), stream, cancel })
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
