import type { GroupResource } from '@kubewright/api'
import {
  type Clock,
  type Duration,
  formatDuration,
  KubewrightError,
  type LazySignal,
  linkSignals,
  systemClock,
  toMillis,
  withDeadline,
  withLazyDeadline,
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
import { parseWarnings, WarningDeduplicator } from './warnings.ts'

/** Options of {@link RestClient}. */
export interface RestClientOptions {
  readonly transport: Transport
  readonly credentials?: Credentials | undefined
  readonly impersonate?: Impersonation | undefined
  /** @default 'kubewright' */
  readonly userAgent?: string | undefined
  /** The default maximum duration of a call. @default '2m' */
  readonly timeout?: Duration | undefined
  /** Called once for each distinct warning of the server. */
  readonly onWarning?: ((text: string) => void) | undefined
  /** Called for each attempt when its response begins or it has failed. For metrics. Must not throw. */
  readonly onResponse?: ((attempt: RequestAttempt) => void) | undefined
  /** Wraps each call including all its attempts; for a stream, until it starts. For traces. @default no wrapper */
  readonly around?: (<T>(request: RestRequest, call: () => Promise<T>) => Promise<T>) | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

/** One attempt of a request. */
export interface RequestAttempt {
  readonly method: string
  readonly path: string
  /** The API server, with the port. */
  readonly host: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The HTTP status; undefined when there was no response. */
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
  /** The resource of the request, for errors without a Status. */
  readonly resource?: GroupResource | undefined
  readonly name?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeout?: Duration | undefined
  /** Called right before each attempt is sent. When it throws, nothing is sent and the call rejects with that error. */
  readonly beforeSend?: (() => void) | undefined
}

/**
 * As in client-go: the maximum number of retries, and the delay in seconds before a read is retried after a lost
 * connection.
 */
const maxRetries = 10
const brokenConnectionDelay = 1

/**
 * Sends requests with client-go's retry rules:
 * - A 429 or 5xx response with `Retry-After` is retried after that delay, for reads and writes, up to ten times.
 * - A lost connection is retried only for GET, because a write may have been made.
 * - A 401 response is retried once with renewed credentials.
 *
 * Any other unsuccessful response rejects with an ApiError.
 */
export class RestClient {
  readonly transport: Transport
  readonly #options: RestClientOptions
  readonly #clock: Clock
  readonly #timeout: Duration
  readonly #headers: Headers
  /** The headers of requests without credentials, by media types. */
  readonly #knownHeaders = new Map<string, Headers>()
  readonly #warnings: WarningDeduplicator

  constructor(options: RestClientOptions) {
    const { transport, clock = systemClock, timeout = '2m', userAgent = 'kubewright', impersonate } = options
    this.transport = transport
    this.#options = options
    this.#clock = clock
    this.#timeout = timeout
    this.#headers = { 'user-agent': userAgent, ...(impersonate ? impersonationHeaders(impersonate) : {}) }
    this.#warnings = new WarningDeduplicator(options.onWarning ?? (() => undefined))
  }

  /** Resolves with the JSON of the response. */
  json(request: RestRequest): Promise<unknown> {
    return this.read(request, (_, json) => json())
  }

  /** Resolves with the result of `turn`, which receives the body as bytes and a function that parses them as JSON. */
  async read<T>(request: RestRequest, turn: (bytes: Buffer, json: () => unknown) => T): Promise<T> {
    const body = await this.bytes(request)
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    return turn(bytes, () => {
      try {
        return JSON.parse(bytes.toString())
      } catch (error) {
        const { host } = this.transport
        throw new ConnectionError(`the response to ${request.method} ${request.path} is not JSON`, {
          host,
          cause: error,
        })
      }
    })
  }

  /** Resolves with the complete body. The deadline covers reading it. */
  bytes(request: RestRequest): Promise<Uint8Array> {
    const what = describe(request)
    const { signal, timeout = this.#timeout } = request
    const run = async (limited: LazySignal): Promise<Uint8Array> => {
      const { response, attempt } = await this.#send(request, limited)
      try {
        return await response.body.bytes()
      } catch (error) {
        throw withAttempt(error, attempt)
      }
    }
    return this.#around(request, () => withLazyDeadline(this.#clock, timeout, what, run, { signal }))
  }

  /** Resolves with the body as a stream. The deadline covers only the time until the response starts. */
  async stream(request: RestRequest): Promise<TransportBody> {
    const link = linkSignals(request.signal)
    const { timeout = this.#timeout } = request
    const late = (): void => {
      const message = `Timed out after ${formatDuration(timeout)}: ${describe(request)}`
      link.abort(new KubewrightError('KW_DEADLINE_EXCEEDED', message))
    }
    const timer = this.#clock.setTimer(toMillis(timeout), late, 'deadline of a stream')
    try {
      const { response } = await this.#around(request, () => this.#send(request, link))
      return released(response.body, () => link[Symbol.dispose]())
    } catch (error) {
      link[Symbol.dispose]()
      throw error
    } finally {
      timer.cancel()
    }
  }

  /** Reports a client-side warning, once, through `onWarning`. */
  warn(text: string): void {
    this.#warnings.report(text)
  }

  /** Opens a message connection. The deadline covers only opening it; afterwards the signal of the request ends it. */
  async upgrade(request: RestRequest, protocols: readonly string[]): Promise<MessageConnection> {
    const { transport } = this
    const { signal, timeout = this.#timeout } = request
    const open = async (renewed: boolean): Promise<MessageConnection> => {
      if (!transport.upgrade)
        throw new ConnectionError('this transport does not support message connections', { host: transport.host })
      const { accept = 'application/json' } = request
      const headers = { ...this.#headers, ...(await this.#options.credentials?.headers(signal)), accept }
      request.beforeSend?.()
      const answer = await transport.upgrade({ path: targetOf(request), headers, protocols, signal })
      if (!('status' in answer)) return answer
      if (answer.status !== 401 || renewed || !this.#options.credentials?.renew())
        throw await responseError(answer, request)
      answer.body.discard()
      return open(true)
    }
    const openWithin = async (limited: AbortSignal): Promise<MessageConnection> => {
      const connection = await open(false)
      // The caller has already been rejected by the deadline or the signal.
      if (limited.aborted) connection.close()
      return connection
    }
    return withDeadline(this.#clock, timeout, describe(request), openWithin, { signal })
  }

  #around<T>(request: RestRequest, call: () => Promise<T>): Promise<T> {
    const { around } = this.#options
    return around === undefined ? call() : around(request, call)
  }

  /** Sends one attempt and reports it. */
  async #attempt(request: RestRequest, attempt: number, limited: LazySignal): Promise<TransportResponse> {
    const { onResponse, credentials } = this.#options
    const sent = this.#toTransport(request, credentials && (await credentials.headers(limited.signal)), limited)
    request.beforeSend?.()
    if (onResponse === undefined) return this.transport.send(sent, limited)
    const startedAt = this.#clock.monotonic()
    const report = (status: number | undefined): void => {
      const { method, path } = request
      const durationMillis = this.#clock.monotonic() - startedAt
      const requestBytes = sent.body?.byteLength ?? 0
      onResponse({ method, path, host: this.transport.host, attempt, status, durationMillis, requestBytes })
    }
    try {
      const response = await this.transport.send(sent, limited)
      report(response.status)
      return response
    } catch (error) {
      report(undefined)
      throw error
    }
  }

  async #send(request: RestRequest, limited: LazySignal): Promise<{ response: TransportResponse; attempt: number }> {
    let renewed = false
    for (let attempt = 1; ; attempt++) {
      const retriesLeft = attempt <= maxRetries
      let response: TransportResponse
      try {
        response = await this.#attempt(request, attempt, limited)
      } catch (error) {
        const again = retriesLeft && request.method === 'GET' && error instanceof ConnectionError && error.isBroken
        if (!again) throw withAttempt(error, attempt)
        await this.#clock.sleep(brokenConnectionDelay * 1000, { signal: limited.signal })
        continue
      }
      const warnings = response.headers['warning']
      if (warnings) for (const text of parseWarnings(warnings)) this.#warnings.report(text)
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
      await this.#clock.sleep(delay * 1000, { signal: limited.signal })
    }
  }

  #toTransport(
    request: RestRequest,
    credentials: Readonly<Record<string, string>> | undefined,
    limited: LazySignal,
  ): TransportRequest {
    const { method, accept = 'application/json', body, contentType = 'application/json' } = request
    return {
      method,
      path: targetOf(request),
      headers: this.#headersFor(credentials, accept, body === undefined ? undefined : contentType),
      body: body === undefined ? undefined : Buffer.from(body),
      get signal() {
        return limited.signal
      },
    }
  }

  /** The headers of a request; the same frozen object for each request of the same kind, unless it has credentials. */
  #headersFor(credentials: Headers | undefined, accept: string, contentType: string | undefined): Headers {
    const type = contentType === undefined ? {} : { 'content-type': contentType }
    if (credentials) return { ...this.#headers, ...credentials, accept, ...type }
    const key = `${accept}\n${contentType ?? ''}`
    let headers = this.#knownHeaders.get(key)
    if (!headers) {
      headers = Object.freeze({ ...this.#headers, accept, ...type })
      if (this.#knownHeaders.size >= maxKnownHeaders) this.#knownHeaders.clear()
      this.#knownHeaders.set(key, headers)
    }
    return headers
  }
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/** The number of combinations of media types whose headers are kept. Clients use a handful. */
const maxKnownHeaders = 64

/** Path and query. */
function targetOf({ path, query }: RestRequest): string {
  const text = query?.toString() ?? ''
  return text === '' ? path : `${path}?${text}`
}

function describe({ method, path }: RestRequest): string {
  return `${method} ${path}`
}

function withAttempt(error: unknown, attempt: number): unknown {
  if (!(error instanceof ConnectionError) || attempt === 1) return error
  return new ConnectionError(error.problem, { host: error.host, attempt, cause: error.cause })
}

/** The same body, with a callback when it was read, discarded or failed. */
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
