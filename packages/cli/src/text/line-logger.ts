import { createLogger, errorText, type Logger } from '@kubewright/base'

/**
 * A logger that writes one line for each record: the message, the values as name=JSON, and the error unless the message contains it.
 * With `verbose`, it also logs debug records and stack traces.
 */
export function lineLogger(write: (line: string) => void, verbose: boolean): Logger {
  return createLogger({
    enabled: (level) => level === 0 || verbose,
    write: ({ message, values, ...rest }) => {
      const parts = [message, ...Object.entries(values).map(([name, value]) => `${name}=${wordOf(value)}`)]
      if ('error' in rest) {
        const { error } = rest
        const text = errorText(error)
        if (verbose) parts.push(error instanceof Error ? (error.stack ?? text) : text)
        else if (!message.includes(text)) parts.push(`error=${JSON.stringify(text)}`)
      }
      write(parts.join(' '))
    },
  })
}

/** A value as JSON. Numbers are rounded to three decimals. */
function wordOf(value: unknown): string {
  return JSON.stringify(typeof value === 'number' ? Math.round(value * 1000) / 1000 : value)
}
