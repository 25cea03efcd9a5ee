import { Deferred } from '@kubewright/base'
import type { TransportBody } from './transport.ts'

/** How many bytes may wait for the reader before the writer is asked to wait. */
const highWaterMark = 1024 * 1024

/** Bytes on their way from a writer to one reader, with a bound on how many are under way. */
export class ByteStream implements TransportBody {
  #chunks: Uint8Array[] = []
  #size = 0
  #ended = false
  /** Whether the reader wants all of it at once, so that waiting for it would be waiting for oneself. */
  #gathering = false
  #failure: { readonly error: unknown } | undefined
  #arrival: Deferred | undefined
  #room: Deferred | undefined
  readonly #onDiscard: () => void

  /** `onDiscard` is called once, when the reader leaves before the end. */
  constructor(onDiscard: () => void) {
    this.#onDiscard = onDiscard
  }

  /** A stream whose bytes are all there. */
  static of(bytes: Uint8Array | undefined): ByteStream {
    const stream = new ByteStream(() => undefined)
    if (bytes) stream.write(bytes)
    stream.end()
    return stream
  }

  /** Hands bytes over; they must not change afterwards. False means that the reader lags. */
  write(chunk: Uint8Array): boolean {
    if (this.#ended) return true
    if (chunk.length > 0) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
      this.#arrival?.resolve()
    }
    return this.#size < highWaterMark
  }

  /** Resolves when the reader has taken everything, or is gone. */
  async drained(): Promise<void> {
    if (this.#size === 0 || this.#ended || this.#gathering) return
    this.#room ??= new Deferred()
    await this.#room.promise
  }

  /** What was written can still be read. */
  end(): void {
    this.#ended = true
    this.#arrival?.resolve()
    this.#room?.resolve()
  }

  /** The reader gets the error once it has read what was written. */
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
