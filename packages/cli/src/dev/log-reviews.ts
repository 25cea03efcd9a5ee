import type { WebhookHandler } from '@kubewright/runtime'
import type { Story } from './activity-log.ts'

interface Review {
  readonly request?: {
    readonly operation?: string
    readonly kind?: { readonly kind?: string }
    readonly namespace?: string
    readonly name?: string
    readonly object?: { readonly metadata?: { readonly generateName?: string } } | null
    readonly userInfo?: { readonly username?: string }
  }
  readonly response?: {
    readonly allowed?: boolean
    readonly status?: { readonly message?: string }
    readonly warnings?: readonly string[]
  }
}

/** A handler of webhooks that tells what it refuses, and what it warns of. */
export function tellReviews(handler: WebhookHandler, story: Story): WebhookHandler {
  return async (request) => {
    const answer = await handler(request)
    const { allowed = true, status, warnings = [] } = read(answer.body).response ?? {}
    if (allowed && warnings.length === 0) return answer
    const { operation = '', kind, namespace = '', name, object, userInfo } = read(request.body).request ?? {}
    const about = {
      operation,
      kind: kind?.kind ?? 'object',
      namespace,
      name: name || object?.metadata?.generateName || '',
      user: userInfo?.username ?? '',
    }
    for (const message of warnings) story.reviewed({ ...about, result: 'warned', message })
    if (!allowed) story.reviewed({ ...about, result: 'denied', message: status?.message ?? '' })
    return answer
  }
}

/** What can be read of a review; nothing of what is none, such as the answer of a conversion. */
function read(body: Uint8Array): Review {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Review
  } catch {
    return {}
  }
}
