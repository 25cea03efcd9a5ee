/** Structured context of a log line, by name. */
export type LogValues = Readonly<Record<string, unknown>>

/**
 * Structured logging in the manner of logr: a constant message plus named values, verbosity instead of severity levels,
 * warnings that are marked as such, and errors apart, which no verbosity can hide. Never log secrets: values reach the sink as they are.
 */
export interface Logger {
  /** Logs what an operator of the program should see. */
  info(message: string, values?: LogValues): void
  /** As `info`, for what goes on but should not be as it is: lines show it as a warning. */
  warn(message: string, values?: LogValues): void
  /** Logs what only somebody who debugs should see: short for `v(1).info`. */
  debug(message: string, values?: LogValues): void
  /** Logs a failure, whatever the verbosity. `message` says what was being done; `error` may be anything that was thrown. */
  error(error: unknown, message: string, values?: LogValues): void
  /** A logger whose lines are `level` steps less important; levels add up. */
  v(level: number): Logger
  /** Whether `info` would reach the sink: guards values that are costly to compute. */
  enabled(): boolean
  /** A logger whose name is this one's, a slash and `name`. */
  withName(name: string): Logger
  /** A logger that adds `values` to each line; later values win over earlier ones of the same name. */
  withValues(values: LogValues): Logger
}

/** One line as a sink gets it. */
export interface LogRecord {
  /** 0 for `info`, 1 and more for the verbose lines; errors carry the level of their logger. */
  readonly level: number
  /** Names joined by a slash; empty for the root. */
  readonly name: string
  readonly message: string
  readonly values: LogValues
  /** True exactly for lines from `Logger.warn`. */
  readonly isWarning?: boolean
  /** Present, even if undefined was thrown, exactly for lines from `Logger.error`. */
  readonly error?: unknown
}

/** Where log lines go. Sinks stamp the time themselves, and must not throw. */
export interface LogSink {
  /** Whether lines of this level are wanted. Asked for every `info` line, never for errors. */
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

/** A logger on top of a sink; all loggers derived from it share the sink. */
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
  /** All lines so far, of this logger and of those derived from it, oldest first. */
  readonly records: readonly LogRecord[]
}

/** Makes a `MemoryLogger` that keeps lines up to the given verbosity. */
export function memoryLogger(maxLevel: number = Number.POSITIVE_INFINITY): MemoryLogger {
  const records: LogRecord[] = []
  const logger = createLogger({
    enabled: (level) => level <= maxLevel,
    write: (record) => void records.push(record),
  })
  return Object.assign(logger, { records })
}
