import { createLogger, type Logger } from '@kubewright/base'

/** A logger that writes one line for each record: the message, then the values as name=JSON. */
export function lineLogger(write: (line: string) => void, verbose: boolean): Logger {
  return createLogger({
    enabled: (level) => level === 0 || verbose,
    write: ({ message, values, ...rest }) => {
      const parts = [message, ...Object.entries(values).map(([name, value]) => `${name}=${JSON.stringify(value)}`)]
      if ('error' in rest)
        parts.push(rest.error instanceof Error ? (rest.error.stack ?? String(rest.error)) : String(rest.error))
      write(parts.join(' '))
    },
  })
}
