import type { Logger, LogValues } from '@kubewright/base'

/** A line of the log that a reconcile wrote. */
export interface TracedLine {
  readonly level: 'debug' | 'info' | 'warning' | 'error'
  readonly message: string
  /** The values of the line, without those that all lines of the reconcile have. */
  readonly values: LogValues
  /** Present if the line reports an error. */
  readonly error?: unknown
}

/**
 * Passes all lines on to another logger and copies them. Lines that the other logger drops because of their verbosity are
 * copied too.
 */
export class CopyingLogger implements Logger {
  readonly #inner: Logger
  readonly #copy: (line: TracedLine) => void
  readonly #values: LogValues
  readonly #level: number

  constructor(inner: Logger, copy: (line: TracedLine) => void, values: LogValues = {}, level = 0) {
    this.#inner = inner
    this.#copy = copy
    this.#values = values
    this.#level = level
  }

  info(message: string, values?: LogValues): void {
    this.#inner.info(message, values)
    this.#write(this.#level > 0 ? 'debug' : 'info', message, values)
  }

  warn(message: string, values?: LogValues): void {
    this.#inner.warn(message, values)
    this.#write('warning', message, values)
  }

  debug(message: string, values?: LogValues): void {
    this.#inner.debug(message, values)
    this.#write('debug', message, values)
  }

  error(error: unknown, message: string, values?: LogValues): void {
    this.#inner.error(error, message, values)
    this.#copy({ level: 'error', message, values: { ...this.#values, ...values }, error })
  }

  v(level: number): Logger {
    return this.#with(this.#inner.v(level), {}, this.#level + level)
  }

  enabled(): boolean {
    return this.#inner.enabled()
  }

  withName(name: string): Logger {
    return this.#with(this.#inner.withName(name))
  }

  withValues(values: LogValues): Logger {
    return this.#with(this.#inner.withValues(values), values)
  }

  #with(inner: Logger, values: LogValues = {}, level: number = this.#level): Logger {
    return new CopyingLogger(inner, this.#copy, { ...this.#values, ...values }, level)
  }

  #write(level: TracedLine['level'], message: string, values: LogValues = {}): void {
    this.#copy({ level, message, values: { ...this.#values, ...values } })
  }
}
