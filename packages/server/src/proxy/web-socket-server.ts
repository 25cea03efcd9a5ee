import { createHash } from 'node:crypto'
import type { Duplex, Writable } from 'node:stream'
import { defineBudget } from '@kubewright/base'
import type { RequestContext } from '../request/request-context.ts'
import { isUpgrade } from './proxy-headers.ts'

/** The suffix of RFC 6455 for the accept hash. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const normalClosure = 1000
/** More than any stream of Kubernetes needs. A client that exceeds a limit or breaks the protocol is disconnected. */
const limits: WebSocketLimits = {
  maxPayload: defineBudget(32 * 1024 * 1024, {
    group: 'other',
    what: 'messages of a WebSocket (exec, attach, port-forward, logs)',
    unit: 'bytes',
    shown: '{}, 1,024 fragments',
    answer: 'the connection is closed',
  }),
  maxFragments: 1024,
  maxBufferedChunks: 64 * 1024,
}

/** The subprotocols that a WebSocket request offers; undefined for other requests. */
export function offeredProtocols(context: RequestContext): readonly string[] | undefined {
  const { headers } = context.request
  if (!isUpgrade(context) || headers['upgrade']?.toLowerCase() !== 'websocket') return undefined
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
}

/** The headers of the response that accepts a WebSocket request. */
export function acceptHeaders({ request }: RequestContext, protocol: string): Readonly<Record<string, string>> {
  const key = request.headers['sec-websocket-key'] ?? ''
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-accept': createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64'),
    'sec-websocket-protocol': protocol,
  }
}

interface WebSocketLimits {
  /** Bytes of a message, in one frame or in several. */
  readonly maxPayload: number
  readonly maxFragments: number
  /** Chunks of a frame that has not arrived completely. */
  readonly maxBufferedChunks: number
}

/** The parts of ws that are used here; its types omit them. */
export interface WebSocketFraming {
  readonly Receiver: new (options: WebSocketLimits & { readonly isServer: boolean }) => Writable
  readonly Sender: new (
    connection: Duplex,
  ) => {
    send(data: Uint8Array | string, options: typeof plainFrame & { readonly binary: boolean }): void
    pong(data: Uint8Array, mask: boolean): void
    close(code: number, data: undefined, mask: boolean, sent: () => void): void
  }
}

/** A message in one frame, without a mask. */
const plainFrame = { fin: true, compress: false, mask: false } as const

/** Loads ws, which most servers never need. */
export async function loadFraming(): Promise<WebSocketFraming> {
  return (await import('ws')) as unknown as WebSocketFraming
}

/** The server's end of a WebSocket. */
export class WebSocketServer {
  readonly #connection: Duplex
  readonly #sender: InstanceType<WebSocketFraming['Sender']>
  #closed = false
  #isPaused = false
  /** Whether the client must take answers before it may send more. */
  #isHeldBack = false

  /** `receive` gets each message; `closed` is called once, when no further message follows. */
  constructor(
    { Receiver, Sender }: WebSocketFraming,
    connection: Duplex,
    receive: (message: Buffer) => void,
    closed: () => void,
  ) {
    this.#connection = connection
    this.#sender = new Sender(connection)
    const receiver = new Receiver({ isServer: true, ...limits })
    receiver.on('message', receive)
    receiver.on('ping', (payload: Buffer) => {
      if (this.#closed || connection.destroyed) return
      this.#sender.pong(payload, false)
      // A client that reads no answers gets to send nothing more.
      if (connection.writableNeedDrain) this.#holdBack()
    })
    receiver.on('conclude', () => this.close())
    receiver.once('error', () => connection.destroy())
    connection.on('data', (chunk: Buffer) => void receiver.write(chunk))
    connection.once('error', () => connection.destroy())
    connection.once('close', closed)
  }

  /** Sends a message: bytes as a binary one. False means that the client lags: wait for {@link WebSocketServer.drained}. */
  send(message: Uint8Array | string): boolean {
    if (this.#closed || this.#connection.destroyed) return true
    this.#sender.send(message, { ...plainFrame, binary: typeof message !== 'string' })
    return !this.#connection.writableNeedDrain
  }

  /** Calls back when the client has taken all messages. */
  drained(callback: () => void): void {
    this.#connection.once('drain', callback)
  }

  /** Stops and resumes the delivery of messages. */
  pause(): void {
    this.#isPaused = true
    this.#connection.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isHeldBack) this.#connection.resume()
  }

  /** Reads nothing from a client until it has taken what was sent. */
  #holdBack(): void {
    if (this.#isHeldBack) return
    this.#isHeldBack = true
    this.#connection.pause()
    this.#connection.once('drain', () => {
      this.#isHeldBack = false
      if (!this.#isPaused) this.#connection.resume()
    })
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (!this.#connection.destroyed) this.#sender.close(normalClosure, undefined, false, () => this.#connection.end())
  }
}
