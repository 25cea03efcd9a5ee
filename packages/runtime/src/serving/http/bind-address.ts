/** The address that a server listens on. */
export interface BindAddress {
  /** Empty for all interfaces. */
  readonly host: string
  readonly port: number
}

/**
 * Parses an address in the syntax of Go programs: `:8443`, `127.0.0.1:8080`, `[::1]:0`. Returns undefined for `0` and
 * the empty string, which disable the server.
 */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '' || text === '0') return undefined
  const match = /^(?:\[(?<six>[0-9a-fA-F:.%a-z]+)\]|(?<host>[^:[\]]*)):(?<port>\d{1,5})$/.exec(text)
  const port = Number(match?.groups?.['port'])
  if (!match?.groups || port > 65_535) {
    throw new TypeError(`"${text}" is not a bind address: use HOST:PORT or :PORT, or 0 to disable the server`)
  }
  return { host: match.groups['six'] ?? match.groups['host'] ?? '', port }
}
