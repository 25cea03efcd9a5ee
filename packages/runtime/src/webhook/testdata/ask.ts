import type { Client } from '@kubewright/client'
import { createWebhookHandler, type WebhookHandlerOptions } from '../create-webhook-handler.ts'
import type { WebhookHandler } from '../webhook-request.ts'

/** The response to a review. */
export interface Answer {
  readonly status: number
  /** Parsed JSON, or the text when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any
  /** The patch in the response, decoded. */
  readonly patch?: unknown
}

/** A client without any objects. */
export const noClient: Client = {
  get: () => Promise.reject(new Error('not found')),
  find: async () => undefined,
  list: async () => [],
} as Partial<Client> as Client

/** Creates a handler and functions that send reviews to it. */
export function asker(options: Partial<WebhookHandlerOptions>): {
  readonly handler: WebhookHandler
  ask(path: string, request: object, apiVersion?: string): Promise<Answer>
  post(path: string, body: string | Uint8Array, contentType?: string): Promise<Answer>
} {
  const handler = createWebhookHandler({ webhooks: [], client: noClient, ...options })
  const post = async (path: string, body: string | Uint8Array, contentType = 'application/json'): Promise<Answer> => {
    const headers = { 'content-type': contentType }
    const answer = await handler({ method: 'POST', path, headers, body: Buffer.from(body) })
    const text = Buffer.from(answer.body).toString()
    const parsed = answer.headers['content-type']?.[0] === 'application/json' ? JSON.parse(text) : text
    const patch = parsed.response?.patch as string | undefined
    return {
      status: answer.status,
      body: parsed,
      ...(patch === undefined ? {} : { patch: JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown }),
    }
  }
  return {
    handler,
    post,
    ask: (path, request, apiVersion = 'admission.k8s.io/v1') =>
      post(path, JSON.stringify({ kind: 'AdmissionReview', apiVersion, request })),
  }
}
