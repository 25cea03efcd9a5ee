import type { Clock } from '@kubewright/base'
import type { ConfigHost } from './config-host.ts'

/** What a {@link RotatingFile} is read with. */
export interface RotatingFileOptions {
  readonly host: ConfigHost
  readonly clock: Clock
  /** Milliseconds after which it is read again. */
  readonly period: number
  /** The error for a file that cannot be read the first time. */
  readonly failure: (path: string, error: unknown) => Error
}

/**
 * A file that somebody replaces now and then, such as a token. It is read when asked for and the last reading is old; a later reading
 * that fails keeps the earlier one, since the file may be in the middle of being replaced.
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

  /** Has it read again the next time, because what it held was not accepted. */
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
