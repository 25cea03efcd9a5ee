import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { encodeFrame, FrameReader, opcodes } from '@kubewright/base'
import type { RequestContext } from '../request/request-context.ts'
import { isUpgrade } from './proxy-headers.ts'

/** The suffix of RFC 6455 for the accept hash. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const normalClosure = Buffer.from([0x03, 0xe8])

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

/** The server's end of a WebSocket. */
export class WebSocketServer {
  readonly #connection: Duplex
  #closed = false

  /** `receive` gets each message; `closed` is called once, when no further message follows. */
  constructor(connection: Duplex, receive: (message: Buffer) => void, closed: () => void) {
    this.#connection = connection
    const reader = new FrameReader()
    connection.on('data', (chunk: Buffer) => {
      try {
        for (const { opcode, payload } of reader.push(chunk)) {
          if (opcode === opcodes.ping) connection.write(encodeFrame(opcodes.pong, payload))
          else if (opcode === opcodes.close) this.close()
          else if (opcode === opcodes.binary || opcode === opcodes.text) receive(payload)
        }
      } catch {
        connection.destroy()
      }
    })
    connection.once('error', () => connection.destroy())
    connection.once('close', closed)
  }

  /** Sends a message. False means that the client lags: wait for {@link WebSocketServer.drained}. */
  send(message: Uint8Array): boolean {
    return this.#send(opcodes.binary, message)
  }

  /** Like {@link WebSocketServer.send}, as a text message. */
  sendText(text: string): boolean {
    return this.#send(opcodes.text, Buffer.from(text))
  }

  #send(opcode: number, message: Uint8Array): boolean {
    if (this.#closed || this.#connection.destroyed) return true
    return this.#connection.write(encodeFrame(opcode, message))
  }

  /** Calls back when the client has taken all messages. */
  drained(callback: () => void): void {
    this.#connection.once('drain', callback)
  }

  /** Stops and resumes the delivery of messages. */
  pause(): void {
    this.#connection.pause()
  }

  resume(): void {
    this.#connection.resume()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    if (!this.#connection.destroyed) this.#connection.end(encodeFrame(opcodes.close, normalClosure))
  }
}
