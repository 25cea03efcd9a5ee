import { X509Certificate } from 'node:crypto'
import { posix } from 'node:path'
import { newGenericServerResponse, parseJson } from '@kubewright/api'
import { CaughtError, type Clock, goQuote } from '@kubewright/base'
import type { HostPort, Outgoing, OutgoingResponse, OutgoingTls } from './outgoing.ts'

/** The address of a webhook: the WebhookClientConfig of the API. */
export interface WebhookTarget {
  readonly url?: string | undefined
  readonly service?:
    | {
        readonly namespace: string
        readonly name: string
        readonly path?: string | undefined
        readonly port?: number | undefined
      }
    | undefined
  /** PEM in base64. @default the CAs of the system */
  readonly caBundle?: string | undefined
}

/** Options of {@link WebhookClient.call}. */
export interface WebhookCallOptions {
  /** Sent to the webhook as its deadline. @default no deadline besides the signal */
  readonly timeoutSeconds?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** TLS settings; the CA bundle of the target takes precedence. @default the CAs of the system, no client certificate */
  readonly tls?: OutgoingTls | undefined
  /** Headers besides those of every call. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A webhook responded with a status that is no success. The message has the text of client-go. */
export class WebhookResponseError extends CaughtError {
  override readonly name = 'WebhookResponseError'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** The parts that {@link WebhookClient} uses. */
export interface WebhookClientParts {
  readonly outgoing: Outgoing
  /** Resolves a port of a service; rejects with the reason when that fails. */
  readonly resolveService: (namespace: string, name: string, port: number) => Promise<HostPort>
  readonly clock: Clock
}

/** The configuration of a webhook is invalid, so it cannot be called. */
export class WebhookConfigError extends CaughtError {
  override readonly name = 'WebhookConfigError'
}

/** The size limit of responses. The patch of an object of maximum size fits. */
const maxAnswerBytes = 16 * 1024 * 1024
/** How many CA bundles are cached. */
const maxBundles = 200
/** How much of an unexpected response an error message contains. */
const maxShownBytes = 2048

/**
 * Calls webhooks as kube-apiserver does, with a deadline, verified certificates and the error texts of client-go. Redirects are
 * errors: a webhook must not make the server call another address.
 */
export class WebhookClient {
  readonly #parts: WebhookClientParts
  /** Decoded PEM by CA bundle. */
  readonly #bundles = new Map<string, string>()

  constructor(parts: WebhookClientParts) {
    this.#parts = parts
  }

  /**
   * Posts a body and returns the body of the successful response. Rejects with an Error that has the text of client-go, or with
   * {@link WebhookConfigError}.
   */
  async call(target: WebhookTarget, body: Uint8Array, options: WebhookCallOptions = {}): Promise<Uint8Array> {
    const { timeoutSeconds, signal: outer, headers } = options
    const ca = target.caBundle ? this.#authorities(target.caBundle) : undefined
    const tls = ca === undefined ? options.tls : { ...options.tls, ca }
    const url = addressOf(target) + (timeoutSeconds === undefined ? '' : `?timeout=${timeoutSeconds}s`)
    const stop = new AbortController()
    const cancel = (): void => stop.abort(new Error('context canceled'))
    if (outer?.aborted) cancel()
    outer?.addEventListener('abort', cancel, { once: true })
    const timer =
      timeoutSeconds === undefined
        ? undefined
        : this.#parts.clock.setTimer(
            timeoutSeconds * 1000,
            () => stop.abort(new Error('context deadline exceeded')),
            'webhook timeout',
          )
    try {
      const response = await this.#post(target.service, url, { body, tls, headers, signal: stop.signal })
      return contentOf(response, await readBody(response, stop.signal))
    } finally {
      timer?.cancel()
      outer?.removeEventListener('abort', cancel)
    }
  }

  async #post(
    service: WebhookTarget['service'],
    url: string,
    {
      body,
      tls,
      headers,
      signal,
    }: {
      readonly body: Uint8Array
      readonly tls: OutgoingTls | undefined
      readonly headers: Readonly<Record<string, string>> | undefined
      readonly signal: AbortSignal
    },
  ): Promise<OutgoingResponse> {
    const { outgoing, resolveService } = this.#parts
    try {
      return await outgoing({
        method: 'POST',
        url: new URL(url),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
          ...headers,
        },
        body,
        signal,
        ...(tls ? { tls } : {}),
        ...(service ? { connectTo: () => resolveService(service.namespace, service.name, service.port ?? 443) } : {}),
      })
    } catch (error) {
      throw new CaughtError(`Post ${goQuote(url)}: ${(error as Error).message}`, { cause: error })
    }
  }

  #authorities(bundle: string): string {
    let pem = this.#bundles.get(bundle)
    if (pem === undefined) {
      pem = Buffer.from(bundle, 'base64').toString('latin1')
      checkAuthorities(pem)
      if (this.#bundles.size >= maxBundles) this.#bundles.clear()
      this.#bundles.set(bundle, pem)
    }
    return pem
  }
}

/** Throws the first parse error unless at least one certificate is valid (client-go/transport/transport.go). */
function checkAuthorities(pem: string): void {
  const blocks = [...pem.matchAll(/-----BEGIN ([^-]+)-----\s[^-]*-----END \1-----/g)]
  let problem = blocks.length === 0 ? 'unable to parse bytes as PEM block' : 'no valid certificate authority data seen'
  for (const [text, type] of blocks) {
    if (type !== 'CERTIFICATE') continue
    try {
      new X509Certificate(text)
      return
    } catch {
      problem = 'failed to parse certificate: x509: malformed certificate'
    }
  }
  throw new WebhookConfigError(`unable to load root certificates: ${problem}`)
}

function addressOf({ url, service }: WebhookTarget): string {
  if (service) {
    return `https://${service.name}.${service.namespace}.svc:${service.port ?? 443}${cleanPath(service.path ?? '')}`
  }
  if (!url) throw new WebhookConfigError('webhook configuration must have either service or URL')
  // Go keeps the host as written, also in its errors.
  return (/^[a-z]+:\/\/[^/]*/i.exec(url)?.[0] ?? '') + cleanPath(new URL(url).pathname)
}

/** Joins like Go's path.Join: one leading slash, no trailing slash. */
function cleanPath(path: string): string {
  const joined = posix.join('/', path)
  return joined.length > 1 && joined.endsWith('/') ? joined.slice(0, -1) : joined
}

async function readBody({ body }: OutgoingResponse, signal: AbortSignal): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxAnswerBytes) throw new CaughtError(`http: response body larger than ${maxAnswerBytes} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    const { message } = (signal.aborted ? signal.reason : error) as Error
    const why = message === 'aborted' ? 'unexpected EOF' : message
    throw new CaughtError(`unexpected error when reading response body. Please retry. Original error: ${why}`)
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

/** The body of a successful response. Otherwise throws the message of the Status in the body, or a message for the status code. */
function contentOf({ status, headers }: OutgoingResponse, body: Uint8Array): Uint8Array {
  const contentType = headers['content-type']?.[0] ?? ''
  if (status >= 200 && status <= 206) {
    if (body.length > 0) return body
    const type = contentType || 'application/json'
    throw new CaughtError(`0-length response with status code: ${status} and content type: ${type}`)
  }
  const message = statusMessage(body)
  if (message !== undefined) throw new WebhookResponseError(message, status)
  const isText = contentType === '' || contentType.startsWith('text/')
  const serverMessage = isText ? Buffer.from(body.subarray(0, maxShownBytes)).toString('utf8').trim() : 'unknown'
  const error = newGenericServerResponse({ code: status, verb: 'POST', serverMessage, isUnexpectedResponse: true })
  throw new WebhookResponseError(error.status.message ?? '', status)
}

/** The message of a Status with status Failure. */
function statusMessage(body: Uint8Array): string | undefined {
  try {
    const { kind, apiVersion = 'v1', status, message } = parseJson(body) as Record<string, unknown>
    if (kind !== 'Status' || apiVersion !== 'v1' || status !== 'Failure') return undefined
    return typeof message === 'string' ? message : ''
  } catch {
    return undefined
  }
}
