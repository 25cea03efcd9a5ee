import type { Clock } from '@kubewright/base'
import type { ConfigHost } from './config-host.ts'

/** Options of {@link RotatingFile}. */
export interface RotatingFileOptions {
  readonly host: ConfigHost
  readonly clock: Clock
  /** Milliseconds after which the file is read again. */
  readonly period: number
  /** Creates the error for a file that cannot be read the first time. */
  readonly failure: (path: string, error: unknown) => Error
}

/**
 * A file that is replaced from time to time, such as a token. It is read on demand when the cached content is older
 * than the period. When a later read fails, the cached content is kept, because the file may be in the middle of a
 * replacement.
 */
export class RotatingFile {
  readonly path: string
  readonly #options: RotatingFileOptions
  #text: string | undefined
  #readAt = 0
  #reading: Promise<string> | undefined

  constructor(path: string, options: RotatingFileOptions) {
    this.path = path
    this.#options = options
  }

  read(): Promise<string> | string {
    if (this.#text !== undefined && this.#options.clock.monotonic() - this.#readAt < this.#options.period)
      return this.#text
    this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** Forces a read on the next call, because the server rejected the content. */
  drop(): void {
    this.#readAt = Number.NEGATIVE_INFINITY
  }

  async #readNow(): Promise<string> {
    const { host, clock, failure } = this.#options
    try {
      this.#text = await host.readFile(this.path)
    } catch (error) {
      if (this.#text === undefined) throw failure(this.path, error)
    }
    this.#readAt = clock.monotonic()
    return this.#text
  }
}
