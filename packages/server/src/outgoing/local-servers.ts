import type { Outgoing } from './outgoing.ts'

/** A request to a server in the same process. */
export interface LocalRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: Uint8Array
  readonly signal: AbortSignal | undefined
}

/** The response of a server in the same process. */
export interface LocalResponse {
  readonly status: number
  /** @default application/json */
  readonly headers?: Readonly<Record<string, readonly string[]>> | undefined
  readonly body: Uint8Array
}

/** A server in the same process, such as a webhook server. */
export type LocalServer = (request: LocalRequest) => LocalResponse | Promise<LocalResponse>

/**
 * Servers of this process by host and port (`hooks.test.svc:443`, `127.0.0.1:9443`). Requests reach them without sockets,
 * certificates or endpoints.
 */
export class LocalServers {
  readonly #servers = new Map<string, LocalServer>()

  /** Registers a server until the result is disposed. */
  serve(host: string, server: LocalServer): Disposable {
    this.#servers.set(host, server)
    return {
      [Symbol.dispose]: () => {
        if (this.#servers.get(host) === server) this.#servers.delete(host)
      },
    }
  }

  /** Sends requests for registered servers to them, and all others to `next`. */
  before(next: Outgoing): Outgoing {
    return async (request) => {
      const { url, method, headers, body = new Uint8Array(), signal } = request
      const server = this.#servers.get(`${url.hostname}:${url.port || 443}`)
      if (!server) return next(request)
      const local = { method, path: request.target ?? url.pathname + url.search, headers, body, signal }
      // The request ends when the signal aborts, even if the server does not.
      const answer = await untilAborted(Promise.resolve(server(local)), signal)
      const { status, body: answered, headers: sent = { 'content-type': ['application/json'] } } = answer
      return { status, headers: sent, body: once(answered) }
    }
  }
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
