import type { BodySink } from '@kubewright/api'
import type { HeldBodies } from './held-bodies.ts'
import type { Output, OutputObserver } from './output.ts'

const canceled = new Error('The client disconnected or the server is stopping')

/** The bytes that a client must take between two sweeps to count as reading. */
const progressBytes = 64 * 1024
/**
 * Larger bodies are written in pieces of this size, so that the progress of a client can be measured. The output is ended only when it has
 * drained: if Node 20 still waits for a write when the next request of the same HTTP/1.1 connection arrives, it pauses its parser and fails
 * the connection with "Parse Error: Paused" when more of that request arrives.
 */
const pieceBytes = 1024 * 1024

/**
 * A request and its response on a connection. It ends when the response has been sent and the output is closed, or when the client
 * disconnects. A client that does not read loses the exchange: see {@link Exchange.sweep}.
 */
export class Exchange implements OutputObserver, BodySink {
  readonly #output: Output
  /** Set once the response is complete; there is nothing left to cancel. */
  #isComplete = false
  #isCanceled = false
  #controller: AbortController | undefined
  #isSent = false
  #onSent: (() => void)[] | undefined
  #onCanceled: (() => void)[] | undefined
  /** Bytes given to the output so far. */
  #written = 0
  /** Bytes that the client had taken at the last sweep that found progress. */
  #taken = 0
  /** Milliseconds without progress. */
  #stalledFor = 0

  readonly #ended: () => void
  readonly #held: HeldBodies
  /** Set by the open connections: whether the request lasts until the client or the server ends it, such as a watch. */
  isLongRunning: () => boolean = () => false

  /** Calls `ended` once, when the output is closed. */
  constructor(output: Output, ended: (exchange: Exchange) => void, held: HeldBodies) {
    this.#output = output
    this.#ended = () => ended(this)
    this.#held = held
    output.observe(this)
  }

  /**
   * Aborts when the client disconnects or the server stops. The signal is created on first use, because most handlers never read it.
   */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isCanceled) this.#controller.abort(canceled)
    }
    return this.#controller.signal
  }

  /** Drops the response. */
  reset(): void {
    this.#output.reset()
  }

  cancel(): void {
    if (this.#isComplete || this.#isCanceled) return
    this.#isCanceled = true
    this.#controller?.abort(canceled)
    for (const callback of this.#onCanceled ?? []) callback()
    this.#onCanceled = undefined
  }

  /** Marks the response as handed to the output in full. */
  complete(): void {
    this.#isComplete = true
  }

  /** Calls back once: when the client has taken the whole response, or the output is closed. */
  readonly onSent = (callback: () => void): void => {
    if (this.#isSent) callback()
    else (this.#onSent ??= []).push(callback)
  }

  /** Calls back once: when the client disconnects or the server stops before the response is complete. */
  readonly onCanceled = (callback: () => void): void => {
    if (this.#isCanceled) callback()
    else (this.#onCanceled ??= []).push(callback)
  }

  /** Writes a body that is in memory, and ends the output. Resolves when the last piece was handed to the output. */
  async end(body: Uint8Array): Promise<void> {
    this.#held.hold(this, body.length)
    if (body.length <= pieceBytes) {
      this.#written += body.length
      this.#output.end(body)
      return
    }
    for (let at = 0; at < body.length; at += pieceBytes) {
      if (!this.write(body.subarray(at, at + pieceBytes))) await this.drained()
      if (this.#output.destroyed) return
    }
    this.#output.end()
  }

  write(chunk: Uint8Array): boolean {
    this.#written += chunk.length
    return this.#output.write(chunk)
  }

  drained(): Promise<void> {
    return this.#output.drained()
  }

  /**
   * Measures progress; the listener calls it every `period` milliseconds. Resets the output when bytes have waited for `timeout`
   * milliseconds while the client took less than {@link progressBytes}, and when the client keeps its half of a stream open after the
   * response was sent. An output without waiting bytes, such as a watch without events, never times out.
   */
  sweep(period: number, timeout: number): void {
    const waiting = this.#output.writableLength
    // Sockets are written to by others; they count themselves.
    const taken = (this.#output.bytesWritten ?? this.#written) - waiting
    if ((waiting === 0 && !this.#isSent) || taken - this.#taken >= progressBytes) {
      this.#taken = taken
      this.#stalledFor = 0
      return
    }
    this.#stalledFor += period
    if (this.#stalledFor >= timeout) this.reset()
  }

  closed(): void {
    this.cancel()
    this.sent()
    this.#ended()
  }

  failed(): void {
    this.cancel()
  }

  sent(): void {
    if (this.#isSent) return
    this.#isSent = true
    this.#held.release(this)
    this.#stalledFor = 0
    for (const callback of this.#onSent ?? []) callback()
    this.#onSent = undefined
  }
}
