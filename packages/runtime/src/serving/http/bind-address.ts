/** Where a server listens. */
export interface BindAddress {
  /** Empty for all addresses of the machine. */
  readonly host: string
  readonly port: number
}

/**
 * Reads an address as Go programs take it: `:8443`, `127.0.0.1:8080`, `[::1]:0`. `0` and the empty text mean: none, which is
 * undefined.
 */
export function parseBindAddress(text: string): BindAddress | undefined {
  if (text === '' || text === '0') return undefined
  const match = /^(?:\[(?<six>[0-9a-fA-F:.%a-z]+)\]|(?<host>[^:[\]]*)):(?<port>\d{1,5})$/.exec(text)
  const port = Number(match?.groups?.['port'])
  if (!match?.groups || port > 65_535) {
    throw new TypeError(`"${text}" is no address to listen on: write HOST:PORT, :PORT, or 0 for none`)
  }
  return { host: match.groups['six'] ?? match.groups['host'] ?? '', port }
}
