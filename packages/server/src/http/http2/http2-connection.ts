import type { TLSSocket } from 'node:tls'
import type { BodyAccount, Clock } from '@kubewright/base'
import { defineBudget } from '@kubewright/base'
import type { Flushable, Flusher } from './flusher.ts'
import {
  defaultWindow,
  ErrorCode,
  Flag,
  FrameType,
  frame,
  frameHeaderBytes,
  maxFramePayload,
  maxWindow,
  numberFrame,
  ProtocolError,
  preface,
  Setting,
  settingsFrame,
} from './frames.ts'
import { type HeaderLimits, HpackDecoder } from './hpack-decoder.ts'
import { emptyTable, encodeHeaders } from './hpack-encoder.ts'
import { Http2Stream, type StreamConnection } from './http2-stream.ts'
import { blockBytes, type OutputBlocks } from './output-blocks.ts'
import { requestHeaders } from './request-headers.ts'

/** Options of {@link Http2Connection}. */
export interface Http2Options extends HeaderLimits {
  /** Requests in progress. */
  readonly streamsPerConnection: number
  readonly flusher: Flusher
  readonly clock: Clock
  /** Counts the bytes of request bodies in memory. */
  readonly bodies: BodyAccount
  /** Called for each request with a complete, well-formed header. */
  readonly onStream: (stream: Http2Stream) => void
}

/** Bytes of a request body that a client may send before the server reads them, per request. As in kube-apiserver. */
const streamWindow = 256 * 1024
/** The same for all requests of a connection. */
const connectionWindow = 1024 * 1024
/**
 * Bytes of responses that are encrypted and written at once. Further ones wait until the socket has drained. With the heads of the
 * responses they fit in a block: a write that needs memory of its own costs more than several small ones.
 */
const maxBatch = blockBytes - 2048
/** Frames longer than this gain nothing, because a TLS record has at most 16 KiB. */
const maxSendFrame = 64 * 1024
/**
 * Streams that a client may reset or make the server reset, or frames without effect that it may send, in a burst; and how many
 * more each second.
 */
const abuseBurst = defineBudget(1000, {
  group: 'server',
  what: 'streams that a client may reset, or make the server reset (malformed or oversized headers, protocol errors), HTTP/2',
  shown: '{} at once, 33 more per second',
  answer: 'the connection is closed with ENHANCE_YOUR_CALM',
  kubernetes: 'no: it limits handlers in progress',
})
const abusePerSecond = 33
/** A DATA frame with fewer bytes, unless it is the last, counts as a tenth of that: a body of such frames is work without content. */
const smallData = 64
/** With more bytes than this in the socket, the connection reads nothing until the client has taken some of them. */
const maxUnsent = 1024 * 1024
/** Acknowledgements that may wait for a client that does not read. */
const maxWaitingControls = defineBudget(1000, {
  group: 'server',
  what: 'acknowledgements of pings and settings that a client does not read, HTTP/2',
  answer: 'the connection is closed with ENHANCE_YOUR_CALM',
  kubernetes: '10,000',
})

/**
 * A connection of HTTP/2 (RFC 9113) on the side of the server, without push and priorities. It replaces that of Node, whose streams cost
 * more than all other work of a small request: the head and the body of a response leave in one encrypted write, and so do the watch events of
 * one turn.
 */
export class Http2Connection implements Flushable, StreamConnection {
  isSoon = false
  isEvent = false
  readonly bodies: BodyAccount
  readonly #socket: TLSSocket
  readonly #options: Http2Options
  readonly #decoder: HpackDecoder
  readonly #streams = new Map<number, Http2Stream>()
  /** Streams with bytes to send that their own window allows. */
  readonly #ready = new Set<Http2Stream>()
  #hasPreface = false
  #hasSettings = false
  /** Bytes of an incomplete frame. */
  #rest: Buffer | undefined
  #lastStream = 0
  /** The header block that CONTINUATION frames extend. */
  #block: { readonly stream: number; readonly flags: number; readonly parts: Buffer[]; bytes: number } | undefined
  #sendWindow = defaultWindow
  #receiveWindow = connectionWindow
  #credit = 0
  #initialWindow = defaultWindow
  #maxFrame = maxFramePayload
  #hasSentHeaders = false
  #pieces: Uint8Array[] = []
  #isBlocked = false
  #waitingControls = 0
  #abuse = 0
  #abuseAt = 0
  /** Set when the connection accepts no further requests. */
  #closing = false
  #closed = false

  constructor(socket: TLSSocket, options: Http2Options) {
    this.#socket = socket
    this.#options = options
    this.bodies = options.bodies
    this.#decoder = new HpackDecoder(options)
    this.#pieces.push(
      settingsFrame([
        [Setting.maxConcurrentStreams, options.streamsPerConnection],
        [Setting.initialWindowSize, streamWindow],
        [Setting.maxHeaderListSize, options.headerBytes],
      ]),
      numberFrame(FrameType.windowUpdate, 0, connectionWindow - defaultWindow),
    )
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => {
      this.#isBlocked = false
      socket.resume()
      this.flush()
    })
    socket.on('error', () => undefined)
    socket.on('end', () => this.destroy())
    socket.once('close', () => this.#onClose())
    options.flusher.flushSoon(this)
  }

  /** Announces the end: further requests are refused, and the connection is closed after those in progress. */
  close(): void {
    if (this.#closing || this.#closed) return
    this.#closing = true
    this.#control(numberFrame(FrameType.goaway, 0, this.#lastStream, ErrorCode.noError))
    this.#endIfIdle()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  // Receiving.

  #receive(chunk: Buffer): void {
    try {
      let bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
      this.#rest = undefined
      if (!this.#hasPreface) {
        const length = Math.min(bytes.length, preface.length)
        if (preface.compare(bytes, 0, length, 0, length) !== 0) {
          throw new ProtocolError(ErrorCode.protocolError, 'invalid preface')
        }
        if (length < preface.length) {
          this.#rest = bytes
          return
        }
        this.#hasPreface = true
        bytes = bytes.subarray(length)
      }
      this.#readFrames(bytes)
    } catch (error) {
      this.#fail(error instanceof ProtocolError ? error.code : ErrorCode.internalError)
    }
  }

  #readFrames(bytes: Buffer): void {
    let at = 0
    while (bytes.length - at >= frameHeaderBytes && !this.#closed) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
      if (length > maxFramePayload) throw new ProtocolError(ErrorCode.frameSizeError, 'frame too long')
      const start = at + frameHeaderBytes
      if (start + length > bytes.length) break
      const stream = bytes.readUInt32BE(at + 5) & maxWindow
      this.#receiveFrame(bytes[at + 3]!, bytes[at + 4]!, stream, bytes.subarray(start, start + length))
      at = start + length
    }
    if (at < bytes.length) this.#rest = bytes.subarray(at)
  }

  #receiveFrame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (!this.#hasSettings && type !== FrameType.settings) throw violation('the first frame is not SETTINGS')
    if (this.#block && (type !== FrameType.continuation || stream !== this.#block.stream)) {
      throw violation('a frame within a header block')
    }
    switch (type) {
      case FrameType.data:
        this.#receiveData(flags, stream, payload)
        return
      case FrameType.headers:
        this.#receiveHeaders(flags, stream, payload)
        return
      case FrameType.continuation:
        this.#receiveContinuation(flags, payload)
        return
      case FrameType.rstStream:
        this.#receiveReset(stream, payload)
        return
      case FrameType.settings:
        this.#receiveSettings(flags, stream, payload)
        return
      case FrameType.ping:
        this.#receivePing(flags, stream, payload)
        return
      case FrameType.windowUpdate:
        this.#receiveWindowUpdate(stream, payload)
        return
      case FrameType.pushPromise:
        throw violation('PUSH_PROMISE of a client')
      case FrameType.goaway:
        // The client opens no further streams and closes the connection when it has its responses.
        if (stream !== 0) throw violation('GOAWAY of a stream')
        return
      default:
        // PRIORITY and unknown types have no effect.
        this.#countAbuse(0.1)
    }
  }

  #receiveHeaders(flags: number, stream: number, payload: Buffer): void {
    if (stream % 2 === 0) throw violation('HEADERS of an invalid stream')
    let block = unpadded(flags, payload)
    if (flags & Flag.priority) {
      if (block.length < 5) throw new ProtocolError(ErrorCode.frameSizeError, 'HEADERS too short')
      block = block.subarray(5)
    }
    if (flags & Flag.endHeaders) {
      this.#receiveBlock(flags, stream, block)
      return
    }
    this.#block = { stream, flags, parts: [block], bytes: block.length }
  }

  #receiveContinuation(flags: number, payload: Buffer): void {
    const block = this.#block
    if (!block) throw violation('CONTINUATION without HEADERS')
    block.parts.push(payload)
    block.bytes += payload.length
    // Undecoded bytes are never more than decoded ones by far, so larger blocks exceed the limit of headers anyway.
    if (block.bytes > this.#options.headerBytes || block.parts.length > 128) {
      throw new ProtocolError(ErrorCode.enhanceYourCalm, 'header block too large')
    }
    if (!(flags & Flag.endHeaders)) return
    this.#block = undefined
    this.#receiveBlock(block.flags, block.stream, Buffer.concat(block.parts))
  }

  #receiveBlock(flags: number, id: number, block: Buffer): void {
    const pairs = this.#decoder.decode(block)
    const existing = this.#streams.get(id)
    if (existing) {
      this.#receiveTrailers(flags, existing)
      return
    }
    // A stream that the server has reset: the client did not know it yet.
    if (id <= this.#lastStream) return
    this.#lastStream = id
    if (this.#closing || this.#streams.size >= this.#options.streamsPerConnection) {
      this.#sendReset(id, ErrorCode.refusedStream)
      return
    }
    if (!pairs) {
      this.#sendReset(id, ErrorCode.enhanceYourCalm)
      return
    }
    const headers = requestHeaders(pairs)
    if (!headers) {
      this.#sendReset(id, ErrorCode.protocolError)
      return
    }
    const windows = { send: this.#initialWindow, receive: streamWindow }
    const stream = new Http2Stream(this, id, headers, pairs, windows)
    if (flags & Flag.endStream && !stream.receiveEnd()) {
      this.#sendReset(id, ErrorCode.protocolError)
      return
    }
    this.#streams.set(id, stream)
    this.#options.onStream(stream)
  }

  #receiveTrailers(flags: number, stream: Http2Stream): void {
    if (stream.isReceived) {
      stream.reset(ErrorCode.streamClosed)
      return
    }
    if (!(flags & Flag.endStream) || !stream.receiveEnd()) stream.reset(ErrorCode.protocolError)
  }

  #receiveData(flags: number, id: number, payload: Buffer): void {
    if (id === 0 || id > this.#lastStream) throw violation('DATA of an idle stream')
    this.#receiveWindow -= payload.length
    if (this.#receiveWindow < 0) throw new ProtocolError(ErrorCode.flowControlError, 'window exceeded')
    const stream = this.#streams.get(id)
    const data = unpadded(flags, payload)
    if (data.length < smallData && !(flags & Flag.endStream)) this.#countAbuse(data.length === 0 ? 1 : 0.1)
    if (!stream) {
      this.creditConnection(payload.length)
      return
    }
    if (stream.isReceived) {
      this.creditConnection(payload.length)
      stream.reset(ErrorCode.streamClosed)
      return
    }
    stream.receiveWindow -= payload.length
    if (stream.receiveWindow < 0) {
      this.creditConnection(payload.length)
      stream.reset(ErrorCode.flowControlError)
      return
    }
    if (data.length < payload.length) this.credit(stream, payload.length - data.length)
    if (data.length > 0) stream.receive(data)
    if (flags & Flag.endStream && !stream.receiveEnd()) stream.reset(ErrorCode.protocolError)
  }

  #receiveReset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolError(ErrorCode.frameSizeError, 'RST_STREAM of a wrong length')
    if (id === 0 || id > this.#lastStream) throw violation('RST_STREAM of an idle stream')
    const stream = this.#streams.get(id)
    if (!stream) return
    this.#countAbuse(1)
    this.remove(stream, undefined)
    stream.closedByConnection()
  }

  #receiveSettings(flags: number, stream: number, payload: Buffer): void {
    if (stream !== 0) throw violation('SETTINGS of a stream')
    if (flags & Flag.ack) {
      if (payload.length > 0) throw new ProtocolError(ErrorCode.frameSizeError, 'SETTINGS of a wrong length')
      return
    }
    if (payload.length % 6 !== 0) throw new ProtocolError(ErrorCode.frameSizeError, 'SETTINGS of a wrong length')
    this.#hasSettings = true
    for (let at = 0; at < payload.length; at += 6) {
      this.#applySetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    }
    this.#acknowledge(frame(FrameType.settings, Flag.ack, 0, 0, 0))
  }

  #applySetting(id: number, value: number): void {
    if (id === Setting.initialWindowSize) {
      if (value > maxWindow) throw new ProtocolError(ErrorCode.flowControlError, 'initial window too large')
      const change = value - this.#initialWindow
      this.#initialWindow = value
      for (const stream of this.#streams.values()) {
        stream.sendWindow += change
        if (stream.sendWindow > maxWindow) throw new ProtocolError(ErrorCode.flowControlError, 'window too large')
        if (stream.hasPending) this.#ready.add(stream)
      }
      if (this.#ready.size > 0) this.#options.flusher.flushSoon(this)
    } else if (id === Setting.maxFrameSize) {
      if (value < maxFramePayload || value > 2 ** 24 - 1) throw violation('invalid frame size')
      this.#maxFrame = Math.min(value, maxSendFrame)
    } else if (id === Setting.enablePush && value > 1) throw violation('invalid setting')
  }

  #receivePing(flags: number, stream: number, payload: Buffer): void {
    if (stream !== 0) throw violation('PING of a stream')
    if (payload.length !== 8) throw new ProtocolError(ErrorCode.frameSizeError, 'PING of a wrong length')
    if (flags & Flag.ack) return
    const answer = frame(FrameType.ping, Flag.ack, 0, 8, 8)
    payload.copy(answer, frameHeaderBytes)
    this.#acknowledge(answer)
  }

  #receiveWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolError(ErrorCode.frameSizeError, 'WINDOW_UPDATE of a wrong length')
    const increment = payload.readUInt32BE(0) & maxWindow
    if (id === 0) {
      if (increment === 0) throw violation('WINDOW_UPDATE of zero')
      this.#sendWindow += increment
      if (this.#sendWindow > maxWindow) throw new ProtocolError(ErrorCode.flowControlError, 'window too large')
      if (this.#ready.size > 0) this.#options.flusher.flushSoon(this)
      return
    }
    if (id > this.#lastStream) throw violation('WINDOW_UPDATE of an idle stream')
    const stream = this.#streams.get(id)
    if (!stream) return
    if (increment === 0) {
      stream.reset(ErrorCode.protocolError)
      return
    }
    stream.sendWindow += increment
    if (stream.sendWindow > maxWindow) {
      stream.reset(ErrorCode.flowControlError)
      return
    }
    if (!stream.hasPending) return
    this.#ready.add(stream)
    this.#options.flusher.flushSoon(this)
  }

  /** Counts something that only hostile clients do often, and ends the connection of one. */
  #countAbuse(weight: number): void {
    const now = this.#options.clock.monotonic()
    this.#abuse = Math.max(0, this.#abuse - ((now - this.#abuseAt) * abusePerSecond) / 1000) + weight
    this.#abuseAt = now
    if (this.#abuse > abuseBurst) throw new ProtocolError(ErrorCode.enhanceYourCalm, 'too many resets')
  }

  // Sending.

  sendHeaders(
    stream: Http2Stream,
    status: number,
    headers: Readonly<Record<string, string | readonly string[]>>,
    endStream: boolean,
  ): void {
    // The first block says that the server uses no dynamic table, whatever the client allows.
    const block = encodeHeaders(status, headers, this.#hasSentHeaders ? undefined : emptyTable)
    this.#hasSentHeaders = true
    const end = endStream ? Flag.endStream : 0
    for (let at = 0; at === 0 || at < block.length; at += maxFramePayload) {
      const part = block.length <= maxFramePayload ? block : block.subarray(at, at + maxFramePayload)
      const type = at === 0 ? FrameType.headers : FrameType.continuation
      const flags = (at === 0 ? end : 0) | (at + maxFramePayload >= block.length ? Flag.endHeaders : 0)
      this.#pieces.push(frame(type, flags, stream.id, part.length, 0), part)
    }
    this.#options.flusher.flushSoon(this)
  }

  sendSoon(stream: Http2Stream, isEvent: boolean): void {
    this.#ready.add(stream)
    if (isEvent) this.#options.flusher.flushEvents(this)
    else this.#options.flusher.flushSoon(this)
  }

  credit(stream: Http2Stream, bytes: number): void {
    this.creditConnection(bytes)
    if (stream.isReceived) return
    stream.credit += bytes
    if (stream.credit < streamWindow / 2) return
    this.#control(numberFrame(FrameType.windowUpdate, stream.id, stream.credit))
    stream.receiveWindow += stream.credit
    stream.credit = 0
  }

  creditConnection(bytes: number): void {
    this.#credit += bytes
    if (this.#credit < connectionWindow / 2) return
    this.#control(numberFrame(FrameType.windowUpdate, 0, this.#credit))
    this.#receiveWindow += this.#credit
    this.#credit = 0
  }

  remove(stream: Http2Stream, code: number | undefined): void {
    this.#streams.delete(stream.id)
    this.#ready.delete(stream)
    if (code !== undefined) this.#sendReset(stream.id, code)
    this.#endIfIdle()
  }

  /** A reset for any other reason than the end of a response is the fault of the client. */
  #sendReset(stream: number, code: number): void {
    if (code !== ErrorCode.cancel && code !== ErrorCode.noError) this.#countAbuse(1)
    this.#control(numberFrame(FrameType.rstStream, stream, code))
  }

  #acknowledge(piece: Buffer): void {
    this.#waitingControls++
    if (this.#waitingControls > maxWaitingControls) {
      throw new ProtocolError(ErrorCode.enhanceYourCalm, 'too many unread acknowledgements')
    }
    this.#control(piece)
  }

  #control(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#options.flusher.flushSoon(this)
  }

  /** Writes the collected frames, and as many bytes of responses as the windows and the socket allow. */
  flush(): void {
    if (this.#closed) return
    const { blocks } = this.#options.flusher
    do {
      blocks.begin()
      for (const piece of this.#pieces) blocks.append(piece)
      this.#pieces = []
      const streams = this.#isBlocked ? [] : this.#takeData(blocks)
      if (blocks.isEmpty) return
      const isAccepted = blocks.writeTo(this.#socket)
      this.#isBlocked = !isAccepted
      // Otherwise a client that reads no responses could fill the memory with their heads.
      if (this.#socket.writableLength > maxUnsent) this.#socket.pause()
      if (isAccepted) this.#waitingControls = 0
      for (const stream of streams) stream.written()
    } while (!this.#isBlocked && this.#ready.size > 0 && this.#sendWindow > 0)
  }

  /** Frames bytes of the ready streams in turn. Returns the streams with a frame. */
  #takeData(blocks: OutputBlocks): Http2Stream[] {
    const framed: Http2Stream[] = []
    let bytes = 0
    for (const stream of this.#ready) {
      if (bytes >= maxBatch) break
      const waiting = stream.writableLength
      const room = Math.min(this.#maxFrame, maxBatch - bytes)
      const length = Math.max(0, Math.min(waiting, stream.sendWindow, this.#sendWindow, room))
      // Stays ready if only the window of the connection is closed; otherwise its own window makes it ready again.
      if (waiting > 0 && length === 0) {
        if (this.#sendWindow > 0) this.#ready.delete(stream)
        continue
      }
      stream.takeFrame(blocks, length)
      this.#sendWindow -= length
      bytes += length + frameHeaderBytes
      framed.push(stream)
      this.#ready.delete(stream)
      // A stream with more bytes queues again behind the others. The iteration visits it again.
      if (stream.writableLength > 0) this.#ready.add(stream)
    }
    return framed
  }

  // The end.

  #fail(code: number): void {
    if (this.#closed) return
    this.#closing = true
    this.#pieces.push(numberFrame(FrameType.goaway, 0, this.#lastStream, code))
    this.#socket.write(Buffer.concat(this.#pieces))
    this.#pieces = []
    this.#onClose()
    this.#socket.destroySoon()
  }

  #endIfIdle(): void {
    if (!this.#closing || this.#streams.size > 0 || this.#closed) return
    this.flush()
    this.#socket.destroySoon()
  }

  #onClose(): void {
    if (this.#closed) return
    this.#closed = true
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    this.#ready.clear()
    this.#pieces = []
    for (const stream of streams) stream.closedByConnection()
  }
}

function violation(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.protocolError, reason)
}

function unpadded(flags: number, payload: Buffer): Buffer {
  if (!(flags & Flag.padded)) return payload
  const padding = payload[0] ?? 0
  if (payload.length <= padding) throw violation('padding longer than the frame')
  return payload.subarray(1, payload.length - padding)
}
