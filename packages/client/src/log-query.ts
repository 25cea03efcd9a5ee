import type { LogOptions } from './call-options.ts'

const parameters = [
  'container',
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'timestamps',
  'tailLines',
  'limitBytes',
] as const

/** The query parameters of a log request. */
export function logQuery(options: LogOptions): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of parameters) {
    const value = options[name]
    if (value !== undefined && value !== false) query.set(name, String(value))
  }
  return query
}
