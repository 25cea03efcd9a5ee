/** A request to an {@link HttpHandler}. The body is read only on demand. */
export interface HttpRequest {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The client's address, without the port. */
  readonly remoteAddress: string
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal
  /** Reads the body as UTF-8. Rejects when it is longer. Absent where requests have no bodies, as in memory. */
  readonly text?: ((maxBytes: number) => Promise<string>) | undefined
}

/** The response to an {@link HttpRequest}. */
export interface HttpResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
  /** Further parts of the body, sent after `body` as they are produced. */
  readonly chunks?: AsyncIterable<Uint8Array> | undefined
}

/** Handles requests. When a handler throws, the client gets a 500 and the error is only logged. */
export type HttpHandler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>

/** A plain-text response. */
export function textResponse(status: number, body: string): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  }
}

/** Whether a request came from the loopback interface. */
export function isLoopback({ remoteAddress }: Pick<HttpRequest, 'remoteAddress'>): boolean {
  return remoteAddress === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(remoteAddress)
}
