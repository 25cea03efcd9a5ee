import type { GroupResource } from '@kubewright/api'
import {
  type Clock,
  type Duration,
  formatDuration,
  KubewrightError,
  linkSignals,
  systemClock,
  toMillis,
  withDeadline,
} from '@kubewright/base'
import { ConnectionError } from '../transport/connection-error.ts'
import type {
  MessageConnection,
  Transport,
  TransportBody,
  TransportRequest,
  TransportResponse,
} from '../transport/transport.ts'
import type { Credentials, Impersonation } from './credentials.ts'
import { impersonationHeaders } from './credentials.ts'
import { responseError, retryAfterSeconds } from './response-error.ts'
import { OnceOnly, parseWarnings } from './warnings.ts'

/** What {@link RestClient} takes. */
export interface RestClientOptions {
  readonly transport: Transport
  readonly credentials?: Credentials | undefined
  readonly impersonate?: Impersonation | undefined
  /** @default 'kubewright' */
  readonly userAgent?: string | undefined
  /** How long a call may take when it does not say. @default '2m' */
  readonly timeout?: Duration | undefined
  /** Told each warning of the server once. */
  readonly onWarning?: ((text: string) => void) | undefined
  /** Told each attempt as soon as its answer begins, or it has failed: for metrics. Must not throw. */
  readonly onResponse?: ((attempt: RequestAttempt) => void) | undefined
  /** Runs each call with all its attempts; of one that streams, its beginning: for traces. @default just runs it */
  readonly around?: (<T>(request: RestRequest, call: () => Promise<T>) => Promise<T>) | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

/** One attempt to have a request answered. */
export interface RequestAttempt {
  readonly method: string
  readonly path: string
  /** Of the API server, with the port. */
  readonly host: string
  /** 1 for the first. */
  readonly attempt: number
  /** The HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  readonly durationMillis: number
  readonly requestBytes: number
}

/** A request to an API server. */
export interface RestRequest {
  readonly method: string
  /** Percent-encoded, without the query. */
  readonly path: string
  readonly query?: URLSearchParams | undefined
  /** @default 'application/json' */
  readonly accept?: string | undefined
  readonly body?: string | undefined
  /** @default 'application/json' */
  readonly contentType?: string | undefined
  /** What the request is about, for errors that do not say it themselves. */
  readonly resource?: GroupResource | undefined
  readonly name?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeout?: Duration | undefined
  /** Asked right before each attempt is sent. When it throws, nothing is sent and the call rejects with that. */
  readonly beforeSend?: (() => void) | undefined
}

/** As client-go: how often a request is sent again, and how long a read waits after its connection broke off. */
const maxRetries = 10
const brokenConnectionDelay = 1

/**
 * Sends requests as client-go does. An answer 429 or 5xx with `Retry-After` is asked for again after that time, up to ten times;
 * a connection that breaks off is tried again for reads only, since a write may have been made. A 401 has the credentials renewed,
 * once. Everything else that is no success rejects with an ApiError.
 */
export class RestClient {
  readonly transport: Transport
  readonly #options: RestClientOptions
  readonly #clock: Clock
  readonly #timeout: Duration
  readonly #headers: Readonly<Record<string, string | readonly string[]>>
  readonly #warnings: OnceOnly

  constructor(options: RestClientOptions) {
    const { transport, clock = systemClock, timeout = '2m', userAgent = 'kubewright', impersonate } = options
    this.transport = transport
    this.#options = options
    this.#clock = clock
    this.#timeout = timeout
    this.#headers = { 'user-agent': userAgent, ...(impersonate ? impersonationHeaders(impersonate) : {}) }
    this.#warnings = new OnceOnly(options.onWarning ?? (() => undefined))
  }

  /** The answer's JSON. */
  json(request: RestRequest): Promise<unknown> {
    return this.read(request, (_, json) => json())
  }

  /** What `turn` makes of the answer's body, as bytes or as the JSON that they are. */
  async read<T>(request: RestRequest, turn: (bytes: Buffer, json: () => unknown) => T): Promise<T> {
    const body = await this.bytes(request)
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    return turn(bytes, () => {
      try {
        return JSON.parse(bytes.toString())
      } catch (error) {
        const { host } = this.transport
        throw new ConnectionError(`the answer to ${request.method} ${request.path} is no JSON`, { host, cause: error })
      }
    })
  }

  /** The answer's body, all of it within the deadline. */
  bytes(request: RestRequest): Promise<Uint8Array> {
    const what = describe(request)
    const { signal, timeout = this.#timeout } = request
    const run = async (limited: AbortSignal): Promise<Uint8Array> => {
      const { response, attempt } = await this.#send(request, limited)
      try {
        return await response.body.bytes()
      } catch (error) {
        throw withAttempt(error, attempt)
      }
    }
    return this.#around(request, () => withDeadline(this.#clock, timeout, what, run, { signal }))
  }

  /** The answer's body as it comes; the deadline is for its beginning. */
  async stream(request: RestRequest): Promise<TransportBody> {
    const link = linkSignals(request.signal)
    const { timeout = this.#timeout } = request
    const late = (): void => {
      const message = `Timed out after ${formatDuration(timeout)}: ${describe(request)}`
      link.abort(new KubewrightError('KW_DEADLINE_EXCEEDED', message))
    }
    const timer = this.#clock.setTimer(toMillis(timeout), late, 'deadline of a stream')
    try {
      const { response } = await this.#around(request, () => this.#send(request, link.signal))
      return released(response.body, () => link[Symbol.dispose]())
    } catch (error) {
      link[Symbol.dispose]()
      throw error
    } finally {
      timer.cancel()
    }
  }

  /** Tells a warning that is not the server's, once, where those of the server are told. */
  warn(text: string): void {
    this.#warnings.hear(text)
  }

  /** A connection that carries messages. The deadline is for its beginning; afterwards the signal of the request ends it. */
  async upgrade(request: RestRequest, protocols: readonly string[]): Promise<MessageConnection> {
    const { transport } = this
    const { signal, timeout = this.#timeout } = request
    const open = async (renewed: boolean): Promise<MessageConnection> => {
      if (!transport.upgrade) throw new ConnectionError('this transport carries no messages', { host: transport.host })
      const { path, headers = {} } = await this.#toTransport(request, signal)
      request.beforeSend?.()
      const answer = await transport.upgrade({ path, headers, protocols, signal })
      if (!('status' in answer)) return answer
      if (answer.status !== 401 || renewed || !this.#options.credentials?.renew())
        throw await responseError(answer, request)
      answer.body.discard()
      return open(true)
    }
    const openWithin = async (limited: AbortSignal): Promise<MessageConnection> => {
      const connection = await open(false)
      // Nobody waits for it any more.
      if (limited.aborted) connection.close()
      return connection
    }
    return withDeadline(this.#clock, timeout, describe(request), openWithin, { signal })
  }

  #around<T>(request: RestRequest, call: () => Promise<T>): Promise<T> {
    const { around } = this.#options
    return around === undefined ? call() : around(request, call)
  }

  /** Sends one attempt, and tells of it. */
  async #attempt(request: RestRequest, attempt: number, signal: AbortSignal): Promise<TransportResponse> {
    const { onResponse } = this.#options
    const sent = await this.#toTransport(request, signal)
    request.beforeSend?.()
    if (onResponse === undefined) return this.transport.send(sent)
    const startedAt = this.#clock.monotonic()
    const tell = (status: number | undefined): void => {
      const { method, path } = request
      const durationMillis = this.#clock.monotonic() - startedAt
      const requestBytes = sent.body?.byteLength ?? 0
      onResponse({ method, path, host: this.transport.host, attempt, status, durationMillis, requestBytes })
    }
    try {
      const response = await this.transport.send(sent)
      tell(response.status)
      return response
    } catch (error) {
      tell(undefined)
      throw error
    }
  }

  async #send(request: RestRequest, signal: AbortSignal): Promise<{ response: TransportResponse; attempt: number }> {
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      const retriesLeft = attempt <= maxRetries
      let response: TransportResponse
      try {
        response = await this.#attempt(request, attempt, signal)
      } catch (error) {
        const again = retriesLeft && request.method === 'GET' && error instanceof ConnectionError && error.isBroken
        if (!again) throw withAttempt(error, attempt)
        await this.#clock.sleep(brokenConnectionDelay * 1000, { signal })
        continue
      }
      const warnings = response.headers['warning']
      if (warnings) for (const text of parseWarnings(warnings)) this.#warnings.hear(text)
      const { status } = response
      if (status >= 200 && status < 300) return { response, attempt }
      if (status === 401 && !renewed && this.#options.credentials?.renew()) {
        renewed = true
        response.body.discard()
        continue
      }
      const delay = status === 429 || status >= 500 ? retryAfterSeconds(response) : undefined
      if (delay === undefined || !retriesLeft) throw await responseError(response, request)
      response.body.discard()
      await this.#clock.sleep(delay * 1000, { signal })
    }
  }

  async #toTransport(request: RestRequest, signal: AbortSignal | undefined): Promise<TransportRequest> {
    const { method, path, query, accept = 'application/json', body, contentType = 'application/json' } = request
    const text = query?.toString() ?? ''
    const headers = {
      ...this.#headers,
      ...(await this.#options.credentials?.headers(signal)),
      accept,
      ...(body === undefined ? {} : { 'content-type': contentType }),
    }
    return {
      method,
      path: text === '' ? path : `${path}?${text}`,
      headers,
      signal,
      ...(body === undefined ? {} : { body: Buffer.from(body) }),
    }
  }
}

function describe({ method, path }: RestRequest): string {
  return `${method} ${path}`
}

function withAttempt(error: unknown, attempt: number): unknown {
  if (!(error instanceof ConnectionError) || attempt === 1) return error
  return new ConnectionError(error.problem, { host: error.host, attempt, cause: error.cause })
}

/** The same body, with something to do when nobody will read it any more. */
function released(body: TransportBody, release: () => void): TransportBody {
  return {
    bytes: () => body.bytes().finally(release),
    discard: () => {
      body.discard()
      release()
    },
    async *[Symbol.asyncIterator]() {
      try {
        yield* body
      } finally {
        release()
      }
    },
  }
}
