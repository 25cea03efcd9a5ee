import type { IncomingHttpHeaders } from 'node:http2'
import { type BodyAccount, type BodyRefusal, ReceivedBody } from '@kubewright/base'
import { bodyError } from '../listener/incoming-request.ts'
import type { Output, OutputObserver } from '../listener/output.ts'
import { ErrorCode, Flag, FrameType } from './frames.ts'
import type { OutputBlocks } from './output-blocks.ts'

/** The bytes that may wait in a stream before its writer should wait. */
const highWaterMark = 64 * 1024
/** Smaller writes of streamed bodies are watch events, which are collected under load. */
const eventBytes = 16 * 1024

/** The parts of a connection that its streams use. */
export interface StreamConnection {
  /** Counts the bytes of request bodies in memory. */
  readonly bodies: BodyAccount
  /** Sends the head of a response. */
  sendHeaders(
    stream: Http2Stream,
    status: number,
    headers: Readonly<Record<string, string | readonly string[]>>,
    endStream: boolean,
  ): void
  /** Sends what waits in the stream: at once, or with other watch events. */
  sendSoon(stream: Http2Stream, isEvent: boolean): void
  /** Grants the client as many further bytes: of the connection, and of the stream unless the client has ended it. */
  credit(stream: Http2Stream, bytes: number): void
  /** Grants the client further bytes of the connection, for bytes of a stream that is gone. */
  creditConnection(bytes: number): void
  /** Removes the stream, and tells the client if there is a code. */
  remove(stream: Http2Stream, code: number | undefined): void
}

const noHeaders: IncomingHttpHeaders = {}
const noRawHeaders: readonly string[] = []

interface BodyReader {
  readonly limit: number
  readonly resolve: (body: Uint8Array) => void
  readonly reject: (error: Error) => void
}

/** A request and its response on a connection of HTTP/2. */
export class Http2Stream implements Output {
  readonly id: number
  /** The headers of the request. Empty once a response has begun: a watch does not need their memory. */
  headers: IncomingHttpHeaders
  rawHeaders: readonly string[]
  /** The bytes of the response that the client still accepts. */
  sendWindow: number
  /** The bytes of the request body that the client may still send. */
  receiveWindow: number
  /** Bytes of the body that were read but not granted again. */
  credit = 0
  readonly #connection: StreamConnection

  readonly #received = new ReceivedBody()
  #receivedBytes = 0
  /** Bytes that the account of the connection counts, until the stream is closed. */
  #charged = 0
  #refusal: BodyRefusal | undefined
  /** Received bytes that the client may not send again yet. */
  #ungranted = 0
  #isReceived = false
  /** Set when the response does not need the rest of the body. */
  #isDiscarding = false
  #reader: BodyReader | undefined
  readonly #contentLength: number | undefined

  #queue: Uint8Array[] = []
  /** The position in the first chunk of the queue. */
  #offset = 0
  #pending = 0
  #isEnding = false
  #ended = false
  #closed = false
  #onDrain: (() => void)[] | undefined
  #observer: OutputObserver | undefined

  constructor(
    connection: StreamConnection,
    id: number,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    windows: { readonly send: number; readonly receive: number },
  ) {
    this.#connection = connection
    this.id = id
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.sendWindow = windows.send
    this.receiveWindow = windows.receive
    const length = headers['content-length']
    this.#contentLength = length === undefined ? undefined : Number(length)
  }

  // The request.

  /** Whether the client has sent the complete request. */
  get isReceived(): boolean {
    return this.#isReceived
  }

  /** Takes a piece of the body from the connection. */
  receive(chunk: Buffer): void {
    this.#receivedBytes += chunk.length
    this.#ungranted += chunk.length
    if (this.#reader && this.#receivedBytes > this.#reader.limit) this.#refuse('too large')
    if (!this.#isDiscarding) this.#keep(chunk)
    if (this.#isDiscarding || this.#reader) this.#grant()
  }

  #keep(chunk: Buffer): void {
    if (!this.#connection.bodies.charge(chunk.length)) {
      this.#refuse('over budget')
      return
    }
    this.#charged += chunk.length
    this.#received.append(chunk)
  }

  /** Drops the body, and fails its reader now or when it comes. */
  #refuse(refusal: BodyRefusal): void {
    this.#refusal = refusal
    this.#reader?.reject(bodyError(refusal, this.#reader.limit))
    this.#reader = undefined
    this.#discard()
  }

  /** The client has ended the request. Returns false if the body does not have the length that its header states. */
  receiveEnd(): boolean {
    if (this.#contentLength !== undefined && this.#contentLength !== this.#receivedBytes) return false
    this.#isReceived = true
    this.#reader?.resolve(this.#received.take())
    this.#reader = undefined
    if (this.#ended) this.#close(undefined)
    return true
  }

  /** Reads the whole body. Must be called at most once. */
  readonly body = (limit: number): Promise<Uint8Array> => {
    if (this.#receivedBytes > limit) this.#refuse('too large')
    if (this.#refusal) return Promise.reject(bodyError(this.#refusal, limit))
    // An unread part of the window is granted now, because the client may need it to send the rest.
    this.#grant()
    if (this.#isReceived) return Promise.resolve(this.#received.take())
    if (this.#closed) return Promise.reject(bodyError('incomplete', limit))
    return new Promise((resolve, reject) => {
      this.#reader = { limit, resolve, reject }
    })
  }

  /** Drops the body, so that the client can send the rest of it and reads the response. */
  #discard(): void {
    this.#isDiscarding = true
    this.#release()
    this.#grant()
  }

  #release(): void {
    this.#received.clear()
    this.#connection.bodies.release(this.#charged)
    this.#charged = 0
  }

  #grant(): void {
    if (this.#ungranted > 0) this.#connection.credit(this, this.#ungranted)
    this.#ungranted = 0
  }

  // The response.

  get destroyed(): boolean {
    return this.#closed
  }

  get closed(): boolean {
    return this.#closed
  }

  get writableLength(): number {
    return this.#pending
  }

  /** Whether there is something to send, be it only the end. */
  get hasPending(): boolean {
    return this.#pending > 0 || (this.#isEnding && !this.#ended)
  }

  observe(observer: OutputObserver): void {
    this.#observer = observer
  }

  /** Tells the client to send the body (100 Continue). */
  respondContinue(): void {
    this.#connection.sendHeaders(this, 100, {}, false)
  }

  respond(status: number, headers: Readonly<Record<string, string | readonly string[]>>, endStream: boolean): void {
    this.#connection.sendHeaders(this, status, headers, endStream)
    this.headers = noHeaders
    this.rawHeaders = noRawHeaders
    if (!endStream) return
    this.#isEnding = true
    this.ended()
  }

  write(chunk: Uint8Array): boolean {
    if (this.#closed || this.#isEnding) return false
    if (chunk.length === 0) return true
    this.#queue.push(chunk)
    this.#pending += chunk.length
    this.#connection.sendSoon(this, this.#pending < eventBytes)
    return this.#pending < highWaterMark
  }

  end(chunk?: Uint8Array): void {
    if (this.#closed || this.#isEnding) return
    if (chunk && chunk.length > 0) {
      this.#queue.push(chunk)
      this.#pending += chunk.length
    }
    this.#isEnding = true
    this.#connection.sendSoon(this, false)
  }

  drained(): Promise<void> {
    if (this.#closed || this.#pending < highWaterMark) return Promise.resolve()
    return new Promise((resolve) => (this.#onDrain ??= []).push(resolve))
  }

  /**
   * Appends a DATA frame with up to `max` bytes; a frame without any ends the stream. The caller calls {@link Http2Stream.written} when the
   * frame was handed to the socket.
   */
  takeFrame(blocks: OutputBlocks, max: number): void {
    const length = Math.min(max, this.#pending)
    const isLast = this.#isEnding && length === this.#pending
    blocks.appendFrameHeader(FrameType.data, isLast ? Flag.endStream : 0, this.id, length)
    let left = length
    let taken = 0
    while (left > 0) {
      const chunk = this.#queue[taken]!
      const available = chunk.length - this.#offset
      if (available <= left) {
        blocks.append(this.#offset === 0 ? chunk : chunk.subarray(this.#offset))
        this.#offset = 0
        taken++
        left -= available
      } else {
        blocks.append(chunk.subarray(this.#offset, this.#offset + left))
        this.#offset += left
        left = 0
      }
    }
    if (taken === this.#queue.length) this.#queue = []
    else if (taken > 0) this.#queue.splice(0, taken)
    this.#pending -= length
    this.sendWindow -= length
  }

  /** The frames of this stream were handed to the socket. */
  written(): void {
    if (this.#isEnding && this.#pending === 0) {
      this.ended()
      return
    }
    if (this.#onDrain && this.#pending < highWaterMark) this.#drain()
  }

  #drain(): void {
    const callbacks = this.#onDrain
    this.#onDrain = undefined
    for (const callback of callbacks ?? []) callback()
  }

  /** The end of the response was handed to the socket. */
  ended(): void {
    if (this.#ended || this.#closed) return
    this.#ended = true
    this.#observer?.sent()
    if (this.#isReceived) this.#close(undefined)
    else this.#discard()
  }

  reset(code: number = ErrorCode.cancel): void {
    this.#close(this.#ended ? ErrorCode.noError : code)
  }

  #close(code: number | undefined): void {
    if (this.#closed) return
    this.#connection.remove(this, code)
    this.closedByConnection()
  }

  /** The client reset the stream, or the connection is closed. */
  closedByConnection(): void {
    if (this.#closed) return
    this.#closed = true
    this.#queue = []
    this.#pending = 0
    this.#release()
    // Bytes of a body that was not read still count in the window of the connection.
    this.#connection.creditConnection(this.#ungranted)
    this.#ungranted = 0
    this.#reader?.reject(bodyError('incomplete', this.#reader.limit))
    this.#reader = undefined
    this.#drain()
    this.#observer?.closed()
  }
}
