import type { HttpRequest, HttpResponse } from './http-handler.ts'
import type { HttpListener, Listening, ListenOptions } from './http-listener.ts'

/** HTTP servers without sockets, for tests and simulations. */
export interface MemoryHttpListener extends HttpListener {
  /** The names of the open servers, sorted. */
  readonly open: readonly string[]
  /** Sends a request to an open server. */
  request(
    server: string,
    url: string,
    options?: Partial<Pick<HttpRequest, 'method' | 'headers' | 'remoteAddress'>>,
  ): Promise<HttpResponse>
}

/** Creates a listener that opens servers in memory, each on its own port number. */
export function memoryHttpListener(): MemoryHttpListener {
  const servers = new Map<string, ListenOptions>()
  let nextPort = 49_152
  return {
    get open() {
      return [...servers.keys()].sort()
    },
    listen: async (options): Promise<Listening> => {
      if (servers.has(options.name)) throw new TypeError(`A server named "${options.name}" is open already`)
      servers.set(options.name, options)
      return {
        port: options.port === 0 ? nextPort++ : options.port,
        [Symbol.asyncDispose]: async () => void servers.delete(options.name),
      }
    },
    request: async (server, url, options = {}) => {
      const found = servers.get(server)
      if (found === undefined) throw new TypeError(`No server named "${server}" is open`)
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      const signal = new AbortController().signal
      const defaults = { method: 'GET', headers: {}, remoteAddress: '127.0.0.1' }
      return found.handler({ ...defaults, path: pathname, query: searchParams, signal, ...options })
    },
  }
}
