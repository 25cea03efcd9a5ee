/** How much is logged: errors alone, or lines up to a verbosity, where 0 is info and 1 is debug. */
export type LogLevel = 'error' | number

/** Reads a level as controller-runtime's programs take it: `info`, `debug`, `error`, `panic` or a verbosity such as 3. */
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
      throw new TypeError(`"${text}" is no log level: write error, info, debug, or a number for more than that`)
  }
}

/** The name of a verbosity, as zap shows it. */
export function levelName(level: number): string {
  return level === 0 ? 'info' : level === 1 ? 'debug' : `Level(-${level})`
}
