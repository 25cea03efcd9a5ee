/** The key-value pairs of a log line. */
export type LogValues = Readonly<Record<string, unknown>>

/**
 * Structured logging modelled on logr: a constant message plus key-value pairs, and verbosity instead of severity
 * levels. Warnings are marked. Errors are separate and independent of the verbosity. Never log secrets: values reach
 * the sink unchanged.
 */
export interface Logger {
  /** Logs information for the operator of the program. */
  info(message: string, values?: LogValues): void
  /** Like `info`, for problems that the program survives. Lines are marked as warnings. */
  warn(message: string, values?: LogValues): void
  /** Logs information for debugging; short for `v(1).info`. */
  debug(message: string, values?: LogValues): void
  /** Logs a failure at any verbosity. `message` names the operation that failed; `error` may be any thrown value. */
  error(error: unknown, message: string, values?: LogValues): void
  /** Returns a logger whose lines are `level` steps more verbose. Levels add up. */
  v(level: number): Logger
  /** Reports whether the sink accepts `info` lines of this logger. Use it to skip values that are costly to compute. */
  enabled(): boolean
  /** Returns a logger whose name is the name of this one, a slash, and `name`. */
  withName(name: string): Logger
  /** Returns a logger that adds `values` to each line. Later values replace earlier ones with the same key. */
  withValues(values: LogValues): Logger
}

/** One log line, as passed to a sink. */
export interface LogRecord {
  /** 0 for `info`, 1 or more for verbose lines. Errors have the level of their logger. */
  readonly level: number
  /** Names joined by a slash; empty for the root. */
  readonly name: string
  readonly message: string
  readonly values: LogValues
  /** True for lines from `Logger.warn` only. */
  readonly isWarning?: boolean | undefined
  /** Present for lines from `Logger.error` only, even if the thrown value was undefined. */
  readonly error?: unknown
}

/** A destination of log lines. Sinks add the time themselves and must not throw. */
export interface LogSink {
  /** Reports whether the sink accepts lines of this level. Called for every `info` line, never for errors. */
  enabled(level: number, name: string): boolean
  write(record: LogRecord): void
}

const NO_VALUES: LogValues = Object.freeze({})

class SinkLogger implements Logger {
  readonly #sink: LogSink
  readonly #level: number
  readonly #name: string
  readonly #values: LogValues

  constructor(sink: LogSink, level: number, name: string, values: LogValues) {
    this.#sink = sink
    this.#level = level
    this.#name = name
    this.#values = values
  }

  info(message: string, values?: LogValues): void {
    this.#log(this.#level, message, values)
  }

  warn(message: string, values?: LogValues): void {
    this.#log(this.#level, message, values, true)
  }

  debug(message: string, values?: LogValues): void {
    this.#log(this.#level + 1, message, values)
  }

  error(error: unknown, message: string, values?: LogValues): void {
    this.#sink.write({ level: this.#level, name: this.#name, message, values: this.#merge(values), error })
  }

  v(level: number): Logger {
    return level > 0 ? new SinkLogger(this.#sink, this.#level + level, this.#name, this.#values) : this
  }

  enabled(): boolean {
    return this.#sink.enabled(this.#level, this.#name)
  }

  withName(name: string): Logger {
    return new SinkLogger(this.#sink, this.#level, this.#name === '' ? name : `${this.#name}/${name}`, this.#values)
  }

  withValues(values: LogValues): Logger {
    return new SinkLogger(this.#sink, this.#level, this.#name, this.#merge(values))
  }

  #log(level: number, message: string, values: LogValues | undefined, isWarning = false): void {
    if (!this.#sink.enabled(level, this.#name)) return
    const record = { level, name: this.#name, message, values: this.#merge(values) }
    this.#sink.write(isWarning ? { ...record, isWarning } : record)
  }

  #merge(values: LogValues | undefined): LogValues {
    if (values === undefined) return this.#values
    return this.#values === NO_VALUES ? values : { ...this.#values, ...values }
  }
}

/** Creates a logger that writes to a sink. All loggers derived from it share the sink. */
export function createLogger(sink: LogSink): Logger {
  return new SinkLogger(sink, 0, '', NO_VALUES)
}

/** A logger that discards everything. */
export const nullLogger: Logger = {
  info() {},
  warn() {},
  debug() {},
  error() {},
  v: () => nullLogger,
  enabled: () => false,
  withName: () => nullLogger,
  withValues: () => nullLogger,
}

/** A logger that keeps its lines in memory, for tests. */
export interface MemoryLogger extends Logger {
  /** All lines so far, of this logger and of loggers derived from it, oldest first. */
  readonly records: readonly LogRecord[]
}

/** Creates a `MemoryLogger` that keeps lines up to the given verbosity. */
export function memoryLogger(maxLevel: number = Number.POSITIVE_INFINITY): MemoryLogger {
  const records: LogRecord[] = []
  const logger = createLogger({
    enabled: (level) => level <= maxLevel,
    write: (record) => void records.push(record),
  })
  return Object.assign(logger, { records })
}
