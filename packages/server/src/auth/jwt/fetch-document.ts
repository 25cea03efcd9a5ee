import { CaughtError, type Clock, goQuote } from '@kubewright/base'
import type { Outgoing, OutgoingResponse } from '../../outgoing/outgoing.ts'

/** The parts that {@link fetchDocument} uses. */
export interface FetchParts {
  readonly outgoing: Outgoing
  readonly clock: Clock
  /** PEM of the trusted CAs. @default the CAs of the system */
  readonly ca?: string | undefined
  /** Cancels all fetches. */
  readonly signal: AbortSignal
}

/** A document and the headers of the response that contained it. */
export interface FetchedDocument {
  readonly status: number
  readonly headers: OutgoingResponse['headers']
  readonly body: string
}

/** Milliseconds for one fetch, with all redirects: as kube-apiserver. */
const timeout = 30_000
/** As many redirects as Go's HTTP client follows. */
const maxRedirects = 10
/** Discovery documents, key sets and tokens are small; anything larger is an attack or a mistake. */
const maxBytes = 4 * 1024 * 1024

/**
 * Gets a document of an issuer, with a deadline of 30 seconds. Follows redirects. Rejects with an Error that has the text of Go's HTTP client;
 * a response with any status is a result.
 */
export async function fetchDocument(
  { outgoing, clock, ca, signal: outer }: FetchParts,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<FetchedDocument> {
  const stop = new AbortController()
  const cancel = (): void => stop.abort(new Error('context canceled'))
  if (outer.aborted) cancel()
  outer.addEventListener('abort', cancel, { once: true })
  const timer = clock.setTimer(
    timeout,
    () => stop.abort(new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)')),
    'fetch from token issuer',
  )
  let target = url
  try {
    for (let redirects = 0; ; redirects++) {
      if (redirects > maxRedirects) throw new CaughtError(`stopped after ${maxRedirects} redirects`)
      const response = await outgoing({
        method: 'GET',
        url: new URL(target),
        headers: { 'user-agent': 'kube-apiserver', ...headers },
        tls: ca === undefined ? {} : { ca },
        signal: stop.signal,
      })
      const body = await textOf(response)
      const location = isRedirect(response.status) ? response.headers['location']?.[0] : undefined
      if (location === undefined) return { status: response.status, headers: response.headers, body }
      target = new URL(location, target).href
    }
  } catch (error) {
    const reason = stop.signal.aborted ? (stop.signal.reason as Error) : (error as Error)
    throw new CaughtError(`Get ${goQuote(target)}: ${reason.message}`, { cause: error })
  } finally {
    timer.cancel()
    outer.removeEventListener('abort', cancel)
  }
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

async function textOf({ body }: OutgoingResponse): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw new CaughtError(`http: response body larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** When a response stops being fresh, in milliseconds since the epoch; `now` if it may not be cached (RFC 9111). */
export function freshUntil(headers: FetchedDocument['headers'], now: number): number {
  const directives = (headers['cache-control'] ?? []).join(',').toLowerCase()
  if (/\bno-(store|cache)\b/.test(directives)) return now
  const maxAge = /\b(?:s-maxage|max-age)\s*=\s*"?(\d+)/.exec(directives)?.[1]
  const age = Number(headers['age']?.[0] ?? 0) || 0
  if (maxAge !== undefined) return now + Math.max(0, Number(maxAge) - age) * 1000
  const expires = Date.parse(headers['expires']?.[0] ?? '')
  return Number.isNaN(expires) ? now : Math.max(now, expires)
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** A status as Go prints it: `404 Not Found`. */
export function statusText(status: number): string {
  return `${status} ${statusNames[status] ?? ''}`.trim()
}
