/** The log level: errors only, or all lines up to a verbosity. 0 is info, 1 is debug. */
export type LogLevel = 'error' | number

/**
 * Parses a level in the syntax of controller-runtime's flags: `info`, `debug`, `error`, `panic` or a verbosity such as
 * 3.
 */
export function parseLogLevel(text: string): LogLevel {
  switch (text.toLowerCase()) {
    case 'info':
      return 0
    case 'debug':
      return 1
    case 'error':
    case 'panic':
      return 'error'
    default:
      if (/^\d{1,3}$/.test(text)) return Number(text)
      throw new TypeError(`"${text}" is not a log level: use error, info, debug or a verbosity from 0 to 999`)
  }
}

/** The name of a verbosity, in zap's spelling. */
export function levelName(level: number): string {
  return level === 0 ? 'info' : level === 1 ? 'debug' : `Level(-${level})`
}
