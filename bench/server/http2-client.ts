import { type ClientHttp2Session, type ClientHttp2Stream, connect, type SecureClientSessionOptions } from 'node:http2'

/** One connection to an API server, with as little work of its own as can be. */
export class Http2Client implements Disposable {
  readonly #session: ClientHttp2Session
  readonly #headers: Readonly<Record<string, string>>

  constructor(
    server: string | URL,
    options: SecureClientSessionOptions,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#session = connect(server, options)
    this.#headers = { 'content-type': 'application/json', accept: 'application/json', ...headers }
    this.#session.setMaxListeners(0)
    // Requests report what goes wrong; a session also breaks when its server is stopped.
    this.#session.on('error', () => undefined)
    // Large windows, so that a list is bounded by the server.
    this.#session.once('connect', () => this.#session.setLocalWindowSize(64 * 1024 * 1024))
  }

  open(method: string, path: string, body?: unknown): ClientHttp2Stream {
    const stream = this.#session.request({ ':method': method, ':path': path, ...this.#headers })
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    return stream
  }

  /** Sends a request and resolves with the length of the answer. */
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
    })
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }
}
