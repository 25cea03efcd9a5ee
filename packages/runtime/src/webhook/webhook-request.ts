/** A request to a webhook server, independent of the transport. */
export interface WebhookRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  /** Aborts when the client no longer waits for the response. */
  readonly signal?: AbortSignal | undefined
}

/** The response to a {@link WebhookRequest}. */
export interface WebhookResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
}

/**
 * A webhook server without a listener. `serveWebhooks` serves it over TLS; the embedded control plane calls it in the
 * same process. Never throws and never rejects.
 */
export interface WebhookHandler {
  (request: WebhookRequest): Promise<WebhookResponse>
  /** Whether there is something at a path, query included. A server does not read the bodies of other requests. @default all paths */
  readonly serves?: ((path: string) => boolean) | undefined
}

/** The first value of a header, or the empty text. */
export function headerOf({ headers }: WebhookRequest, name: string): string {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0]) ?? ''
}

/** A JSON response. */
export function jsonResponse(text: string): WebhookResponse {
  return { status: 200, headers: { 'content-type': ['application/json'] }, body: Buffer.from(text) }
}

/** The response for a path without a webhook. */
export const notFoundResponse = (): WebhookResponse => textResponse(404, '404 page not found')

/** A plain-text response. */
export function textResponse(status: number, text: string): WebhookResponse {
  return { status, headers: { 'content-type': ['text/plain; charset=utf-8'] }, body: Buffer.from(`${text}\n`) }
}
