import type { Clock, LogSink } from '@kubewright/base'
import { jsonLine } from './json-line.ts'
import type { LogLevel } from './log-level.ts'
import { prettyLine } from './pretty-line.ts'

/** What {@link createLogSink} takes. */
export interface LogSinkOptions {
  readonly clock: Clock
  /** Is given each line without its end. */
  readonly write: (line: string) => void
  /** `json` for machines, `pretty` for people at a terminal. @default 'json' */
  readonly format?: 'json' | 'pretty' | undefined
  /** @default 0: info */
  readonly level?: LogLevel | undefined
  /** Colours pretty lines. @default false */
  readonly color?: boolean | undefined
  /** Whether errors show where they were made. @default true */
  readonly stackTraces?: boolean | undefined
}

/**
 * A sink for `createLogger` that writes lines: JSON with zap's keys, so that what reads a kubebuilder operator's logs reads these,
 * or one aligned line for people.
 */
export function createLogSink(options: LogSinkOptions): LogSink {
  const { clock, write, format = 'json', level = 0, color = false, stackTraces = true } = options
  const most = level === 'error' ? -1 : level
  const line = format === 'json' ? jsonLine : prettyLine
  return {
    enabled: (wanted) => wanted <= most,
    write: (record) => {
      // Always with milliseconds, so that lines stay aligned.
      const time = new Date(clock.now()).toISOString()
      write(line(record, { time, color, stackTraces }))
    },
  }
}
