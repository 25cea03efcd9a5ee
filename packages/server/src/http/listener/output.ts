import type { Writable } from 'node:stream'
import { ErrorCode } from '../http2/frames.ts'

/** Receives the end of an output. */
export interface OutputObserver {
  /** The last byte was handed to the connection. */
  sent(): void
  /** The output is closed. Called once; nothing follows. */
  closed(): void
  failed(): void
}

/** The receiver of a response: a stream of HTTP/2, a response of HTTP/1.1, or the socket of an upgraded connection. */
export interface Output {
  readonly destroyed: boolean
  readonly closed: boolean
  /** The bytes that wait for the client. */
  readonly writableLength: number
  /** The bytes written to it, if the output counts them itself. */
  readonly bytesWritten?: number | undefined
  /** Returns false if the caller should wait for {@link Output.drained} before it writes more. */
  write(chunk: Uint8Array): boolean
  end(chunk?: Uint8Array): void
  /** Resolves when the output accepts more, or is closed. */
  drained(): Promise<void>
  observe(observer: OutputObserver): void
  /** Drops the response in such a way that the client notices the missing bytes. */
  reset(code?: number): void
}

/** A stream of Node as an output. */
export class NodeOutput implements Output {
  readonly #stream: Writable & { readonly bytesWritten?: number | undefined }
  readonly #drains: Writable

  /** @param drains the stream whose buffer fills up, if the other one does not report it */
  constructor(stream: Writable, drains: Writable = stream) {
    this.#stream = stream
    this.#drains = drains
  }

  get destroyed(): boolean {
    return this.#stream.destroyed
  }

  get closed(): boolean {
    return this.#stream.closed
  }

  get writableLength(): number {
    return this.#stream.writableLength
  }

  get bytesWritten(): number | undefined {
    return this.#stream.bytesWritten
  }

  write(chunk: Uint8Array): boolean {
    return this.#stream.write(chunk)
  }

  end(chunk?: Uint8Array): void {
    if (chunk) this.#stream.end(chunk)
    else this.#stream.end()
  }

  drained(): Promise<void> {
    const stream = this.#drains
    return new Promise((resolve) => {
      // A closed stream emits no further events.
      if (stream.destroyed || stream.closed || !stream.writableNeedDrain) return resolve()
      const done = (): void => {
        stream.off('drain', done)
        stream.off('close', done)
        resolve()
      }
      stream.once('drain', done)
      stream.once('close', done)
    })
  }

  observe(observer: OutputObserver): void {
    const stream = this.#stream
    stream.once('finish', () => observer.sent())
    stream.once('close', () => observer.closed())
    stream.on('error', () => observer.failed())
  }

  reset(_code: number = ErrorCode.cancel): void {
    this.#stream.destroy()
  }
}
