/** A request to a webhook server, over whatever it came. */
export interface WebhookRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

/** What a webhook server answers. */
export interface WebhookResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly body: Uint8Array
}

/**
 * A webhook server without its listener: what `serveWebhooks` puts behind TLS, and what the embedded control plane calls in the same
 * process. Never throws and never rejects.
 */
export type WebhookHandler = (request: WebhookRequest) => Promise<WebhookResponse>

/** The first value of a header, or the empty text. */
export function headerOf({ headers }: WebhookRequest, name: string): string {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.[0]) ?? ''
}

/** An answer in JSON. */
export function jsonResponse(text: string): WebhookResponse {
  return { status: 200, headers: { 'content-type': ['application/json'] }, body: Buffer.from(text) }
}

/** An answer for people. */
export function textResponse(status: number, text: string): WebhookResponse {
  return { status, headers: { 'content-type': ['text/plain; charset=utf-8'] }, body: Buffer.from(`${text}\n`) }
}
