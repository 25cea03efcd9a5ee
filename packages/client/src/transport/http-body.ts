import type { Readable } from 'node:stream'
import { onAbort } from '@kubewright/base'
import { ConnectionError, connectionProblem } from './connection-error.ts'
import { stream as streams, zlib } from './node-modules.ts'
import type { TransportBody } from './transport.ts'

/** Parameters of {@link HttpBody}. */
export interface HttpBodyParts {
  readonly host: string
  readonly signal?: AbortSignal | undefined
  readonly gzip: boolean
  /** Stops the sender. Has no effect after the end. */
  readonly cancel: () => void
  /** After the stream has ended: the error if the body is incomplete. */
  readonly truncation?: (() => Error | undefined) | undefined
}

/** The body of a response that arrives over a socket. */
export class HttpBody implements TransportBody {
  readonly #stream: Readable
  readonly #parts: HttpBodyParts

  constructor(stream: Readable, parts: HttpBodyParts) {
    this.#stream = stream
    this.#parts = parts
    // Reading reports failures. Without a reader, they can be ignored.
    stream.on('error', () => undefined)
  }

  async bytes(): Promise<Uint8Array> {
    const raw = await this.#gather()
    if (!this.#parts.gzip || raw.length === 0) return raw
    return new Promise((resolve, reject) => {
      zlib().gunzip(raw, (error, result) => (error ? reject(this.#failure(error)) : resolve(result)))
    })
  }

  /**
   * Uses listeners instead of iteration: every GET and LIST passes here, and an async iterator costs a promise per
   * chunk.
   */
  #gather(): Promise<Buffer> {
    const stream = this.#stream
    const { signal } = this.#parts
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      const stopListening = onAbort(signal, () => {
        this.discard()
        reject(signal?.reason as Error)
      })
      const fail = (error: unknown): void => {
        stopListening()
        reject(this.#failure(error))
      }
      if (stream.errored) return fail(stream.errored)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.once('end', () => {
        const broken = this.#parts.truncation?.()
        if (broken) return fail(broken)
        stopListening()
        const [only] = chunks
        resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks))
      })
      stream.once('error', fail)
      // Has no effect after an end.
      stream.once('close', () => fail(premature()))
    })
  }

  discard(): void {
    this.#parts.cancel()
    this.#stream.destroy()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { signal, gzip } = this.#parts
    const stopListening = onAbort(signal, () => this.discard())
    // Errors are reported by the last stream of the pipeline.
    const stream = gzip ? streams().pipeline(this.#stream, zlib().createGunzip(), () => undefined) : this.#stream
    let complete = false
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) yield chunk
      const broken = this.#parts.truncation?.()
      if (broken) throw broken
      signal?.throwIfAborted()
      complete = true
    } catch (error) {
      throw this.#failure(error)
    } finally {
      stopListening()
      if (!complete) this.discard()
    }
  }

  #failure(error: unknown): unknown {
    const { signal, host } = this.#parts
    if (signal?.aborted) return signal.reason
    if (error instanceof ConnectionError) return error
    return new ConnectionError(connectionProblem(error), { host, cause: error })
  }
}

function premature(): Error {
  return Object.assign(new Error('the body is incomplete'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}
