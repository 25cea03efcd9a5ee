import { Deferred } from '@kubewright/base'
import type { TransportBody } from './transport.ts'

/** The number of unread bytes at which the writer is asked to wait. */
const highWaterMark = 1024 * 1024

/** A byte stream from a writer to one reader with back-pressure. */
export class ByteStream implements TransportBody {
  #chunks: Uint8Array[] = []
  #size = 0
  #ended = false
  /** Whether the reader waits for the complete contents. The writer must not wait for the reader then. */
  #gathering = false
  #failure: { readonly error: unknown } | undefined
  #arrival: Deferred | undefined
  #room: Deferred | undefined
  readonly #onDiscard: () => void

  /** `onDiscard` is called once when the reader leaves before the end. */
  constructor(onDiscard: () => void) {
    this.#onDiscard = onDiscard
  }

  /** A complete stream with the given bytes. */
  static of(bytes: Uint8Array | undefined): ByteStream {
    const stream = new ByteStream(() => undefined)
    if (bytes) stream.write(bytes)
    stream.end()
    return stream
  }

  /** Appends bytes, which must not be modified afterwards. Returns false when the writer should await {@link drained}. */
  write(chunk: Uint8Array): boolean {
    if (this.#ended) return true
    if (chunk.length > 0) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#arrival?.resolve()
    }
    return this.#size < highWaterMark
  }

  /** Resolves when the reader has taken everything or has left. */
  async drained(): Promise<void> {
    if (this.#size === 0 || this.#ended || this.#gathering) return
    this.#room ??= new Deferred()
    await this.#room.promise
  }

  /** Ends the stream. Bytes written before can still be read. */
  end(): void {
    this.#ended = true
    this.#arrival?.resolve()
    this.#room?.resolve()
  }

  /** Ends the stream with an error, which the reader receives after the bytes written before. */
  fail(error: unknown): void {
    if (this.#ended) return
    this.#failure = { error }
    this.end()
  }

  async bytes(): Promise<Uint8Array> {
    this.#gathering = true
    this.#room?.resolve()
    while (!this.#ended) await this.#nextArrival()
    const chunks = this.#take()
    if (this.#failure) throw this.#failure.error
    const [only] = chunks
    return chunks.length === 1 && only ? only : Buffer.concat(chunks)
  }

  discard(): void {
    const early = !this.#ended
    this.end()
    this.#take()
    if (early) this.#onDiscard()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunks = this.#take()
        yield* chunks
        if (this.#chunks.length > 0) continue
        if (this.#failure) throw this.#failure.error
        if (this.#ended) return
        await this.#nextArrival()
      }
    } finally {
      this.discard()
    }
  }

  async #nextArrival(): Promise<void> {
    this.#arrival = new Deferred()
    await this.#arrival.promise
  }

  #take(): Uint8Array[] {
    const chunks = this.#chunks
    this.#chunks = []
    this.#size = 0
    this.#room?.resolve()
    this.#room = undefined
    return chunks
  }
}
