import { Backoff, type Clock, type Logger, type Random } from '@kubewright/base'
import type { OutgoingTls } from '../../outgoing/outgoing.ts'
import { type WebhookClient, WebhookResponseError } from '../../outgoing/webhook-client.ts'

/** The address of a webhook and the credentials of this server there. Called for each request, so that credentials may change. */
export type WebhookConnection = () => Promise<{
  readonly url: string
  readonly tls: OutgoingTls
  readonly headers: Readonly<Record<string, string>>
}>

/** The parts that {@link callAuthWebhook} uses. */
export interface AuthWebhookParts {
  readonly client: WebhookClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly connection: WebhookConnection
}

const attempts = 5

/**
 * Posts a review to an authentication or authorization webhook, and again after failures that may be temporary: five times in all, with growing
 * delays (apiserver/pkg/util/webhook). `failure` is the log message of a failed attempt.
 */
export async function callAuthWebhook(
  { client, clock, random, log, connection }: AuthWebhookParts,
  review: object,
  timeoutSeconds: number,
  failure: string,
): Promise<Uint8Array> {
  const body = Buffer.from(`${JSON.stringify(review)}\n`)
  const backoff = new Backoff({ duration: 500, factor: 1.5, jitter: 0.2, steps: attempts }, random)
  for (let attempt = 1; ; attempt++) {
    try {
      const { url, tls, headers } = await connection()
      return await client.call({ url }, body, { timeoutSeconds, tls, headers })
    } catch (error) {
      log.error(error, failure)
      if (attempt >= attempts || !mayRetry(error)) throw error
    }
    await clock.sleep(backoff.step())
  }
}

/** Server errors, overload and broken connections. */
function mayRetry(error: unknown): boolean {
  if (error instanceof WebhookResponseError) return [429, 500, 504].includes(error.status)
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    // A connection that ended without a reset also has the code ECONNRESET in Node, but no system call.
    const { code, syscall } = each as NodeJS.ErrnoException
    if (code === 'ECONNRESET' && syscall !== undefined) return true
  }
  return false
}
