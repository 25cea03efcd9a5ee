import { newInternalError } from '@kubewright/api'
import { ByteStream } from '../transport/byte-stream.ts'
import type { MessageConnection } from '../transport/transport.ts'

/** The port-forward protocol that every kubelet supports over WebSocket. */
export const portForwardProtocols: readonly string[] = ['v4.channel.k8s.io']

const channels = { data: 0, error: 1 }
// Each channel starts with the port number in two bytes.
const headerBytes = 2

/** One connection to a port of a pod. Read or discard `received`: the sender is paused while a mebibyte is unread. */
export class ForwardedPort implements Disposable {
  readonly received: ByteStream
  /**
   * Resolves when the other end closed the connection. Rejects when the pod could not be reached or the connection was
   * lost.
   */
  readonly closed: Promise<void>
  readonly #connection: MessageConnection

  constructor(connection: MessageConnection) {
    this.#connection = connection
    this.received = new ByteStream(() => this.close())
    this.closed = this.#pump()
    // Mark the rejection as handled for callers that never await `closed`.
    this.closed.catch(() => undefined)
  }

  /** Sends bytes to the pod. */
  write(bytes: Uint8Array | string): Promise<void> {
    const payload = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
    return this.#connection.send(Buffer.concat([Buffer.from([channels.data]), payload]))
  }

  close(): void {
    this.#connection.close()
  }

  /** Same as {@link close}. */
  [Symbol.dispose](): void {
    this.close()
  }

  async #pump(): Promise<void> {
    const header = { [channels.data]: headerBytes, [channels.error]: headerBytes }
    let problem = ''
    try {
      for await (const message of this.#connection) {
        const channel = message[0] ?? channels.data
        const skipped = Math.min(header[channel] ?? 0, message.length - 1)
        if (channel in header) header[channel] = (header[channel] ?? 0) - skipped
        const bytes = message.subarray(1 + skipped)
        if (bytes.length === 0) continue
        if (channel === channels.error) problem += Buffer.from(bytes).toString()
        else if (channel === channels.data && !this.received.write(bytes)) await this.received.drained()
      }
      if (problem !== '') throw newInternalError(new Error(problem))
    } catch (error) {
      this.received.fail(error)
      throw error
    } finally {
      this.received.end()
    }
  }
}
