import type { Duplex, Writable } from 'node:stream'
import { onAbort, type Random } from '@kubewright/base'
import { ConnectionError, connectionProblem } from './connection-error.ts'
import type { MessageConnection } from './transport.ts'

/** More than any stream of Kubernetes needs. */
const limits = { maxPayload: 32 * 1024 * 1024, maxFragments: 1024, maxBufferedChunks: 64 * 1024 }
/** A message in one frame. Clients mask their frames. */
const maskedFrame = { fin: true, binary: true, compress: false, mask: true } as const
const normalClosure = 1000

type Sent = (error?: Error | null) => void

/** The parts of ws that are used here; its types omit them. */
interface WebSocketFraming {
  readonly Receiver: new (options: typeof limits & { readonly isServer: boolean }) => Writable
  readonly Sender: new (connection: Duplex, extensions: object, generateMask: (mask: Buffer) => void) => Sender
}

interface Sender {
  send(data: Uint8Array, options: typeof maskedFrame, sent: Sent): void
  pong(data: Uint8Array, mask: boolean, sent: Sent): void
  close(code: number, data: undefined, mask: boolean, sent: Sent): void
}

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
  readonly #sender: Sender
  readonly #receiver: Writable
  #isClosing = false

  private constructor({ Receiver, Sender }: WebSocketFraming, parts: WebSocketParts) {
    this.#parts = parts
    this.protocol = parts.protocol
    this.#sender = new Sender(parts.stream, {}, (mask) => mask.set(parts.random.bytes(4)))
    this.#receiver = new Receiver({ isServer: false, ...limits })
    this.#receiver.on('error', () => undefined)
  }

  /** Loads ws with the first connection: most operators never open one. */
  static async over(parts: WebSocketParts): Promise<WebSocketConnection> {
    // Iteration reports failures.
    parts.stream.on('error', () => undefined)
    return new WebSocketConnection((await import('ws')) as unknown as WebSocketFraming, parts)
  }

  send(message: Uint8Array): Promise<void> {
    return this.#sent((sent) => this.#sender.send(message, maskedFrame, sent))
  }

  close(): void {
    const { stream } = this.#parts
    if (stream.destroyed) return
    this.#isClosing = true
    const destroy = (): void => void stream.destroy()
    // Destroys the stream without waiting for an answer.
    this.#sent((sent) => this.#sender.close(normalClosure, undefined, true, sent)).then(destroy, destroy)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { stream, head, signal, host } = this.#parts
    const stopListening = onAbort(signal, () => stream.destroy())
    let messages: Uint8Array[] = []
    let isClosed = false
    let pinged: Buffer | undefined
    this.#receiver
      .on('message', (message: Buffer) => messages.push(message))
      .on('ping', (payload: Buffer) => (pinged = payload))
      .on('conclude', () => (isClosed = true))
    try {
      const source = async function* (): AsyncGenerator<Uint8Array> {
        yield head
        yield* stream
      }
      for await (const chunk of source()) {
        await new Promise<void>((resolve, reject) =>
          this.#receiver.write(chunk, (error) => (error ? reject(error) : resolve())),
        )
        // As in RFC 6455, 5.5.3: only the last ping needs an answer.
        const payload = pinged
        pinged = undefined
        if (payload && !isClosed) await this.#sent((sent) => this.#sender.pong(payload, true, sent))
        const received = messages
        messages = []
        yield* received
        if (isClosed) return
      }
      signal?.throwIfAborted()
      throw new ConnectionError('the connection ended without a close frame', { host })
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (this.#isClosing) return
      throw error instanceof ConnectionError
        ? error
        : new ConnectionError(connectionProblem(error), { host, cause: error })
    } finally {
      stopListening()
      this.close()
    }
  }

  #sent(write: (sent: Sent) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      write((error) => {
        if (error) reject(new ConnectionError(connectionProblem(error), { host: this.#parts.host, cause: error }))
        else resolve()
      })
    })
  }
}
