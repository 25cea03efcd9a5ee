import type { LogRecord } from '@kubewright/base'
import { levelName } from './log-level.ts'
import { errorWithCause, jsonOf, stackFrames } from './log-value.ts'

/** Options of one line. */
export interface LineOptions {
  /** RFC 3339, with milliseconds. */
  readonly time: string
  readonly color: boolean
  readonly stackTraces: boolean
}

const ownKeys = new Set(['level', 'ts', 'logger', 'msg', 'error', 'stacktrace'])

/** A line of JSON with zap's keys in zap's order: level, ts, logger, msg, the values, error, stacktrace. */
export function jsonLine(record: LogRecord, { time, stackTraces }: LineOptions): string {
  const failed = 'error' in record
  const level = failed ? 'error' : record.isWarning ? 'warn' : levelName(record.level)
  let line = `{"level":"${level}","ts":"${time}"`
  if (record.name !== '') line += `,"logger":${JSON.stringify(record.name)}`
  line += `,"msg":${JSON.stringify(record.message)}`
  for (const [key, value] of Object.entries(record.values)) {
    if (value === undefined) continue
    // A value must not override a key of the line itself.
    line += `,${JSON.stringify(ownKeys.has(key) ? `${key}_` : key)}:${jsonOf(value)}`
  }
  if (failed) {
    line += `,"error":${JSON.stringify(errorWithCause(record.error))}`
    const stack = stackTraces ? stackFrames(record.error) : undefined
    if (stack !== undefined) line += `,"stacktrace":${JSON.stringify(stack)}`
  }
  return `${line}}`
}
