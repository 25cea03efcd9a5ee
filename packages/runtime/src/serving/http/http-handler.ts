/** A request as the small servers of a manager see it. */
export interface HttpRequest {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Where it came from, without the port. */
  readonly remoteAddress: string
  /** Aborted when the client went away or the server gave up. */
  readonly signal: AbortSignal
}

/** What is answered. */
export interface HttpResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** Answers requests. One that throws is answered with 500, and the reason goes to the log only. */
export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>

/** An answer of plain text. */
export function textResponse(status: number, body: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  }
}

/** Whether a request came from this machine. */
export function isLoopback({ remoteAddress }: Pick<HttpRequest, 'remoteAddress'>): boolean {
  return remoteAddress === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(remoteAddress)
}
