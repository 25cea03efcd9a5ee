import { Deferred } from '@kubewright/base'
import type { TransportBody } from '@kubewright/client'
import { never, type SimulatedProcess } from './process.ts'
import { connectionError } from './responses.ts'

export interface SimulatedWatchParts {
  readonly host: string
  readonly hold: () => Promise<void>
  readonly record: (chunk: Uint8Array) => void
  readonly ended: () => void
}

/** The body of a watch whose events arrive late, and which can be cut. */
export class SimulatedWatch implements TransportBody {
  readonly process: SimulatedProcess
  readonly resource: string
  readonly #body: TransportBody
  readonly #parts: SimulatedWatchParts
  readonly #cut = new Deferred<never>()
  readonly #forget: () => void

  constructor(process: SimulatedProcess, resource: string, body: TransportBody, parts: SimulatedWatchParts) {
    this.process = process
    this.resource = resource
    this.#body = body
    this.#parts = parts
    this.#cut.promise.catch(() => undefined)
    // The server stops sending to a dead process.
    this.#forget = process.onKill(() => this.discard())
  }

  cut(): void {
    this.discard()
    this.#cut.reject(connectionError(this.#parts.host, 'the watch was cut', 'ECONNRESET'))
  }

  bytes(): Promise<Uint8Array> {
    return this.#body.bytes()
  }

  discard(): void {
    this.#forget()
    this.#parts.ended()
    this.#body.discard()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks = this.#body[Symbol.asyncIterator]()
    try {
      for (;;) {
        const chunk = await Promise.race([this.#next(chunks), this.#cut.promise])
        if (this.process.isDead) await never()
        if (chunk.done) return
        this.#parts.record(chunk.value)
        yield chunk.value
      }
    } finally {
      this.discard()
    }
  }

  async #next(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    const chunk = await chunks.next()
    await this.#parts.hold()
    return chunk
  }
}
