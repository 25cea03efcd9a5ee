import type { Duplex } from 'node:stream'
import { encodeFrame, FrameReader, onAbort, opcodes, type Random } from '@kubewright/base'
import { ConnectionError, connectionProblem } from './connection-error.ts'
import type { MessageConnection } from './transport.ts'

/** Parameters of {@link WebSocketConnection}. */
export interface WebSocketParts {
  readonly stream: Duplex
  /** Bytes that arrived together with the end of the handshake. */
  readonly head: Uint8Array
  readonly protocol: string
  readonly host: string
  readonly random: Random
  readonly signal?: AbortSignal | undefined
}

/** The client side of a WebSocket. */
export class WebSocketConnection implements MessageConnection {
  readonly protocol: string
  readonly #parts: WebSocketParts

  constructor(parts: WebSocketParts) {
    this.#parts = parts
    this.protocol = parts.protocol
    // Iteration reports failures.
    parts.stream.on('error', () => undefined)
  }

  send(message: Uint8Array): Promise<void> {
    return this.#write(opcodes.binary, message)
  }

  close(): void {
    const { stream } = this.#parts
    if (stream.destroyed) return
    // Status 1000 is a normal closure. Then destroy the stream without waiting for an answer.
    this.#write(opcodes.close, Buffer.from([3, 232])).then(
      () => stream.destroy(),
      () => stream.destroy(),
    )
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { stream, head, signal, host } = this.#parts
    const stopListening = onAbort(signal, () => stream.destroy())
    const reader = new FrameReader()
    try {
      const source = async function* (): AsyncGenerator<Uint8Array> {
        yield head
        yield* stream
      }
      for await (const chunk of source()) {
        for (const { opcode, payload } of reader.push(chunk)) {
          if (opcode === opcodes.close) return
          if (opcode === opcodes.ping) await this.#write(opcodes.pong, payload)
          else if (opcode !== opcodes.pong) yield payload
        }
      }
      signal?.throwIfAborted()
      throw new ConnectionError('the connection ended without a close frame', { host })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw error instanceof ConnectionError
        ? error
        : new ConnectionError(connectionProblem(error), { host, cause: error })
    } finally {
      stopListening()
      this.close()
    }
  }

  #write(opcode: number, payload: Uint8Array): Promise<void> {
    const { stream, random, host } = this.#parts
    return new Promise((resolve, reject) => {
      stream.write(encodeFrame(opcode, payload, random.bytes(4)), (error) => {
        if (error) reject(new ConnectionError(connectionProblem(error), { host, cause: error }))
        else resolve()
      })
    })
  }
}
