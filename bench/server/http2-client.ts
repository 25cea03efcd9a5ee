import { type ClientHttp2Session, type ClientHttp2Stream, connect, type SecureClientSessionOptions } from 'node:http2'

/** One connection to an API server, with minimal overhead. */
export class Http2Client implements Disposable {
  readonly #session: ClientHttp2Session
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    server: string | URL,
    options: SecureClientSessionOptions,
    headers: Readonly<Record<string, string>> = {},
  ) {
    // Large windows, as those of client-go, so that the server limits the speed of lists.
    this.#session = connect(server, { settings: { initialWindowSize: 4 * 1024 * 1024 }, ...options })
    this.#headers = { 'content-type': 'application/json', accept: 'application/json', ...headers }
    this.#session.setMaxListeners(0)
    // Requests report their errors. The session also fails when its server is stopped, which is ignored.
    this.#session.on('error', () => undefined)
    this.#session.once('connect', () => {
      if (!this.#session.destroyed) this.#session.setLocalWindowSize(64 * 1024 * 1024)
    })
  }

  open(method: string, path: string, body?: unknown): ClientHttp2Stream {
    const stream = this.#session.request({ ':method': method, ':path': path, ...this.#headers })
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    return stream
  }

  /** Sends a request and resolves to the length of the response. */
  send(method: string, path: string, body?: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream = this.open(method, path, body)
      let length = 0
      stream.on('response', (headers) => {
        if (Number(headers[':status']) >= 300) reject(new Error(`${method} ${path}: ${headers[':status']}`))
      })
      stream.on('data', (chunk: Buffer) => (length += chunk.length))
      stream.on('end', () => resolve(length))
      stream.on('error', reject)
      // A session that ends closes its streams without an error. After a response, this has no effect.
      stream.on('close', () => reject(new Error(`${method} ${path}: the connection closed before the response`)))
    })
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }
}
