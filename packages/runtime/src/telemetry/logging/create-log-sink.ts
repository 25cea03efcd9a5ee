import type { Clock, LogSink } from '@kubewright/base'
import { jsonLine } from './json-line.ts'
import type { LogLevel } from './log-level.ts'
import { prettyLine } from './pretty-line.ts'

/** Options of {@link createLogSink}. */
export interface LogSinkOptions {
  readonly clock: Clock
  /** Receives each line without a line break at its end. */
  readonly write: (line: string) => void
  /** `json` for log collectors, `pretty` for terminals. @default 'json' */
  readonly format?: 'json' | 'pretty' | undefined
  /** @default 0: info */
  readonly level?: LogLevel | undefined
  /** Whether pretty lines are coloured. @default false */
  readonly color?: boolean | undefined
  /** Whether errors include their stack frames. @default true */
  readonly stackTraces?: boolean | undefined
}

/**
 * A sink for `createLogger` that writes lines. JSON lines use zap's keys, so tools for kubebuilder operators can parse
 * them; pretty lines are aligned and meant for people.
 */
export function createLogSink(options: LogSinkOptions): LogSink {
  const { clock, write, format = 'json', level = 0, color = false, stackTraces = true } = options
  const most = level === 'error' ? -1 : level
  const line = format === 'json' ? jsonLine : prettyLine
  return {
    enabled: (wanted) => wanted <= most,
    write: (record) => {
      // toISOString() always prints milliseconds, which keeps lines aligned.
      const time = new Date(clock.now()).toISOString()
      write(line(record, { time, color, stackTraces }))
    },
  }
}
