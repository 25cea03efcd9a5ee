import http2 from 'node:http2'
import https from 'node:https'
import type { FuzzRequest, FuzzResponse, FuzzUser } from './fuzz-request.ts'

/** The credentials of the users. */
export type Credentials = Readonly<Record<FuzzUser, { readonly cert?: string; readonly key?: string }>>

/** Larger responses are cut off: the fuzzer searches them, but does not need all of them. */
const maxBody = 8 * 1024 * 1024

/** Sends requests over HTTP/1.1 and HTTP/2. Never rejects: a failure becomes a response with status 0. */
export class FuzzClient implements Disposable {
  readonly #server: URL
  readonly #ca: string
  readonly #credentials: Credentials
  readonly #agents = new Map<FuzzUser, https.Agent>()
  readonly #sessions = new Map<FuzzUser, http2.ClientHttp2Session>()
  readonly #timeout: number

  constructor(server: URL, ca: string, credentials: Credentials, timeout = 120_000) {
    this.#server = server
    this.#ca = ca
    this.#credentials = credentials
    this.#timeout = timeout
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy()
    for (const session of this.#sessions.values()) session.destroy()
  }

  async send(request: FuzzRequest): Promise<FuzzResponse> {
    const { body } = request
    const payload = body === undefined ? undefined : Buffer.from(...bytesOf(body))
    for (let attempt = 0; ; attempt++) {
      const response = await (request.protocol === 'http1'
        ? this.#http1(request, payload)
        : this.#http2(request, payload))
      if (attempt === 3 || !lostConnection.test(response.error ?? '')) return response
      // Other requests of the session cause the errors of a session: all are sent again on a new one.
      if (request.protocol === 'http2') this.#sessions.delete(request.user)
    }
  }

  #http1(request: FuzzRequest, payload: Buffer | undefined): Promise<FuzzResponse> {
    return new Promise((resolve) => {
      const failed = (error: unknown): void =>
        resolve({ status: 0, type: '', body: Buffer.alloc(0), error: String(error) })
      const { hostname, port } = this.#server
      const { method, path } = request
      const length = payload === undefined ? {} : { 'content-length': String(payload.length) }
      try {
        const sent = https.request({
          ...{ hostname, port, method, path, agent: this.#agent(request.user) },
          headers: { ...request.headers, ...length },
        })
        sent.setTimeout(this.#timeout, () => sent.destroy(new Error('no response')))
        sent.on('error', failed)
        sent.on('upgrade', (response, socket) => {
          socket.destroy()
          resolve({ status: response.statusCode ?? 0, type: 'upgrade', body: Buffer.alloc(0) })
        })
        sent.on('response', (response) => {
          const chunks: Buffer[] = []
          const status = response.statusCode ?? 0
          const type = response.headers['content-type'] ?? ''
          const finished = (): void => resolve({ status, type, body: Buffer.concat(chunks) })
          collect(response, chunks, request.drop === true, () => {
            finished()
            sent.destroy()
          })
          response.on('end', finished)
          response.on('error', failed)
          response.on('close', finished)
        })
        sent.end(payload)
      } catch (error) {
        // Node refuses to send some paths and headers.
        resolve({ status: 0, type: 'unsent', body: Buffer.alloc(0), error: String(error) })
      }
    })
  }

  #http2(request: FuzzRequest, payload: Buffer | undefined): Promise<FuzzResponse> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let status = 0
      let type = ''
      let failure: string | undefined
      try {
        const stream = this.#session(request.user).request(
          { ':method': request.method, ':path': request.path, ...request.headers },
          { endStream: payload === undefined },
        )
        stream.setTimeout(this.#timeout, () => {
          failure = 'no response'
          stream.close(http2.constants.NGHTTP2_CANCEL)
        })
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0
          type = String(headers['content-type'] ?? '')
          collect(stream, chunks, request.drop === true, () => stream.close(http2.constants.NGHTTP2_CANCEL))
        })
        stream.on('error', (error) => (failure ??= String(error)))
        stream.on('close', () => {
          const error = status === 0 ? { error: failure ?? `the stream ended with code ${stream.rstCode}` } : {}
          resolve({ status, type, body: Buffer.concat(chunks), ...error })
        })
        if (payload !== undefined) stream.end(payload)
      } catch (error) {
        const text = String(error)
        const isLost = /session has been destroyed|GOAWAY/i.test(text)
        resolve({ status: 0, type: isLost ? '' : 'unsent', body: Buffer.alloc(0), error: text })
      }
    })
  }

  #agent(user: FuzzUser): https.Agent {
    let agent = this.#agents.get(user)
    if (!agent) {
      agent = new https.Agent({ keepAlive: true, maxSockets: 64, ca: this.#ca, ...this.#credentials[user] })
      this.#agents.set(user, agent)
    }
    return agent
  }

  #session(user: FuzzUser): http2.ClientHttp2Session {
    let session = this.#sessions.get(user)
    if (!session || session.closed || session.destroyed) {
      session = http2.connect(this.#server.origin, { ca: this.#ca, ...this.#credentials[user] })
      const own = session
      const forget = (): void => {
        if (this.#sessions.get(user) === own) this.#sessions.delete(user)
      }
      session.on('error', forget)
      session.on('goaway', forget)
      session.on('close', forget)
      this.#sessions.set(user, session)
    }
    return session
  }
}

/**
 * Errors of a connection, not of a request. The server may close an idle connection while a request is on its way. Node closes a session
 * with an internal error after 1,000 malformed requests, and refuses streams while the responses of a session take too much memory.
 */
const lostConnection =
  /ECONNRESET|socket hang up|EPIPE|GOAWAY|ENHANCE_YOUR_CALM|NGHTTP2_INTERNAL_ERROR|Session closed with error code 2|session has been destroyed/

function collect(stream: NodeJS.ReadableStream, chunks: Buffer[], drop: boolean, stop: () => void): void {
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxBody) chunks.push(chunk)
    if (drop || size > maxBody) stop()
  })
  // A watch without events sends nothing: end it after the headers.
  if (drop) {
    const timer = setTimeout(stop, 5)
    stream.on('close', () => clearTimeout(timer))
  }
}

function bytesOf(body: NonNullable<FuzzRequest['body']>): [string, BufferEncoding] {
  return typeof body === 'string' ? [body, 'utf8'] : [body.base64, 'base64']
}
