import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { type Clock, every } from '@kubewright/base'
import type { ProtoMessage } from '@kubewright/base/protobuf'
import { GrpcError, grpcStatus } from './grpc-error.ts'
import { FrameSplitter, frameHead, sealFrame } from './grpc-frames.ts'

/** Loaded with the first connection, as most stores are not in etcd. */
const http2Module = () => process.getBuiltinModule('node:http2')

/** Options of {@link GrpcConnection}. Times are in milliseconds. */
export interface ConnectionOptions {
  readonly clock: Clock
  readonly connectTimeout: number
  readonly keepAliveInterval: number
  readonly tls: {
    readonly ca?: string | Buffer | undefined
    readonly cert?: string | Buffer | undefined
    readonly key?: string | Buffer | undefined
    readonly servername?: string | undefined
  }
}

/** Callbacks of a bidirectional stream. `end` is called exactly once, as the last one, and never during `open`. */
export interface StreamEvents {
  message(data: Buffer): void
  end(error: GrpcError): void
}

/** The client's side of a bidirectional stream. */
export interface DuplexStream {
  send(message: ProtoMessage): void
  pause(): void
  resume(): void
  /** Ends the stream. No callback follows. */
  cancel(): void
}

interface Session {
  readonly http2: ClientHttp2Session
  /** The id of the last stream that the server processed, from its GOAWAY. */
  lastStream: number
  openStreams: number
}

/** Large enough for a long list or a burst of changes to arrive without a pause after each 64 KiB. */
const windowSize = 4 * 1024 * 1024

/**
 * A gRPC connection to one endpoint over HTTP/2. Connects on first use and reconnects when the connection was lost.
 * Never repeats a request: every failure states whether the server may have received it ({@link GrpcError.sent}).
 */
export class GrpcConnection {
  readonly url: string
  readonly #options: ConnectionOptions
  #session: Session | undefined
  #connecting: Promise<Session> | undefined
  #closed = false

  constructor(url: string, options: ConnectionOptions) {
    this.url = url
    this.#options = options
  }

  /** Identifies the current connection: facts about the server stay valid while this returns the same object. */
  session(): Promise<object> {
    return this.#connected()
  }

  /** Sends one message and resolves with the one response message. Rejects after the timeout. */
  async unary(path: string, message: ProtoMessage, metadata: Metadata, timeout: number): Promise<Buffer> {
    const session = await this.#connected()
    return new Promise<Buffer>((resolve, reject) => {
      let response: Buffer | undefined
      const call = this.#start(
        session,
        path,
        { ...metadata, 'grpc-timeout': `${Math.max(1, Math.ceil(timeout))}m` },
        {
          message: (data) => {
            response = data
          },
          end: (error) => {
            timer.cancel()
            if (error.status !== 0) reject(error)
            else if (response === undefined)
              reject(new GrpcError(grpcStatus.internal, 'the response has no message', { sent: true }))
            else resolve(response)
          },
        },
      )
      const timer = this.#options.clock.setTimer(
        timeout,
        () => call.fail(new GrpcError(grpcStatus.deadlineExceeded, `no response within ${timeout} ms`, { sent: true })),
        `etcd ${path}`,
      )
      call.stream.end(sealFrame(message.encode(frameHead)))
    })
  }

  /** Opens a stream. Messages can be sent immediately. */
  async open(path: string, metadata: Metadata, events: StreamEvents): Promise<DuplexStream> {
    const { stream, abandon } = this.#start(await this.#connected(), path, metadata, events)
    return {
      send: (message) => void stream.write(sealFrame(message.encode(frameHead))),
      pause: () => void stream.pause(),
      resume: () => void stream.resume(),
      cancel: abandon,
    }
  }

  /** Closes the connection and ends all calls on it. */
  close(): void {
    this.#closed = true
    this.#session?.http2.destroy()
    this.#session = undefined
  }

  #start(session: Session, path: string, metadata: Metadata, events: StreamEvents): Call {
    let stream: ClientHttp2Stream
    try {
      stream = session.http2.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        'user-agent': 'kubewright',
        ...metadata,
      })
    } catch (error) {
      // The connection was lost between the check and this call.
      throw new GrpcError(grpcStatus.unavailable, (error as Error).message, { sent: false, cause: error })
    }
    return new Call(stream, session, events)
  }

  #connected(): Promise<Session> {
    if (this.#closed)
      return Promise.reject(new GrpcError(grpcStatus.cancelled, 'the store was closed', { sent: false }))
    const session = this.#session
    if (session !== undefined && !session.http2.closed && !session.http2.destroyed) return Promise.resolve(session)
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  #connect(): Promise<Session> {
    const { clock, connectTimeout, tls } = this.#options
    return new Promise<Session>((resolve, reject) => {
      const http2 = http2Module().connect(this.url, {
        ...tls,
        settings: { enablePush: false, initialWindowSize: windowSize },
        // The default limit protects against hostile peers. Here it would reject requests while many long responses are
        // in flight.
        maxSessionMemory: 1024,
      })
      const session: Session = { http2, lastStream: Number.POSITIVE_INFINITY, openStreams: 0 }
      const fail = (message: string, cause?: unknown): void => {
        timer.cancel()
        reject(new GrpcError(grpcStatus.unavailable, message, { sent: false, cause }))
      }
      const timer = clock.setTimer(
        connectTimeout,
        () => {
          fail(`no connection within ${connectTimeout} ms`)
          http2.destroy()
        },
        `connect to ${this.url}`,
      )
      // Stays attached, because an unhandled error would be thrown. Later failures also reach the callers through their
      // streams.
      http2.on('error', (error) => fail(error.message || String((error as NodeJS.ErrnoException).code), error))
      http2.on('close', () => fail('the connection was closed'))
      http2.on('goaway', (_code, lastStream) => {
        session.lastStream = lastStream
        if (this.#session === session) this.#session = undefined
      })
      http2.once('connect', () => {
        timer.cancel()
        if (this.#closed) {
          http2.destroy()
          return
        }
        http2.setLocalWindowSize(windowSize)
        this.#session = session
        this.#keepAlive(session)
        resolve(session)
      })
    })
  }

  /** Detects a peer that vanished without closing the connection, which an idle watch would never notice. */
  #keepAlive(session: Session): void {
    const { http2 } = session
    let answered = true
    const timer = every(
      this.#options.clock,
      this.#options.keepAliveInterval,
      () => {
        if (!answered) http2.destroy(new Error('the server stopped responding to pings'))
        // Servers penalise pings on a connection without open streams.
        else if (session.openStreams > 0) {
          answered = false
          http2.ping(() => {
            answered = true
          })
        }
      },
      `keep alive ${this.url}`,
    )
    http2.once('close', () => timer.cancel())
  }
}

/** Headers of a call, such as the token. */
export type Metadata = Readonly<Record<string, string>>

/** One stream of a connection: collects messages and the outcome, and reports the end exactly once. */
class Call {
  readonly stream: ClientHttp2Stream
  readonly #session: Session
  readonly #events: StreamEvents
  #outcome: GrpcError | undefined
  #ended = false

  constructor(stream: ClientHttp2Stream, session: Session, events: StreamEvents) {
    this.stream = stream
    this.#session = session
    this.#events = events
    session.openStreams++
    const splitter = new FrameSplitter((message) => this.#ended || events.message(message))
    stream.on('response', (headers) => this.#read(headers))
    stream.on('trailers', (headers) => this.#read(headers))
    stream.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk)
      } catch (error) {
        this.fail(new GrpcError(grpcStatus.internal, (error as Error).message, { sent: true, cause: error }))
      }
    })
    stream.on('end', () => {
      if (this.#outcome !== undefined) this.#end(this.#outcome)
    })
    stream.on('error', (error) => this.#end(this.#broken(error.message, error)))
    stream.on('close', () => {
      session.openStreams--
      this.#end(this.#outcome ?? this.#broken('the connection was lost'))
    })
  }

  /** Cancels the call and reports the error. */
  fail(error: GrpcError): void {
    this.stream.close(http2Module().constants.NGHTTP2_CANCEL)
    this.#end(error)
  }

  /** Cancels the call without reporting an end. */
  readonly abandon = (): void => {
    this.#ended = true
    this.stream.close(http2Module().constants.NGHTTP2_CANCEL)
  }

  #read(headers: IncomingHttpHeaders): void {
    const status = headers['grpc-status']
    if (status !== undefined) {
      this.#outcome = new GrpcError(Number(status), decodeMessage(headers['grpc-message']), { sent: true })
    } else if (headers[':status'] !== undefined && Number(headers[':status']) !== 200) {
      const message = `the server responded with HTTP status ${headers[':status']}: it is not etcd`
      this.#outcome = new GrpcError(grpcStatus.internal, message, { sent: true })
    }
  }

  #broken(message: string, cause?: unknown): GrpcError {
    const { id, rstCode } = this.stream
    const sent =
      id !== undefined && id <= this.#session.lastStream && rstCode !== http2Module().constants.NGHTTP2_REFUSED_STREAM
    return new GrpcError(grpcStatus.unavailable, message, { sent, cause })
  }

  #end(error: GrpcError): void {
    if (this.#ended) return
    this.#ended = true
    this.#events.end(error)
  }
}

/** Decodes gRPC's percent-encoding of messages. A message that cannot be decoded is returned unchanged. */
function decodeMessage(message: string | string[] | undefined): string {
  const text = String(message ?? '')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
