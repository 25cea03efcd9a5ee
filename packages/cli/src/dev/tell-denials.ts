import type { WebhookHandler } from '@kubewright/runtime'
import type { Story } from './story.ts'

interface Review {
  readonly request?: {
    readonly operation?: string
    readonly kind?: { readonly kind?: string }
    readonly namespace?: string
    readonly name?: string
    readonly object?: { readonly metadata?: { readonly generateName?: string } } | null
    readonly userInfo?: { readonly username?: string }
  }
  readonly response?: { readonly allowed?: boolean; readonly status?: { readonly message?: string } }
}

/** A handler of webhooks that tells what it refuses. */
export function tellDenials(handler: WebhookHandler, story: Story): WebhookHandler {
  return async (request) => {
    const answer = await handler(request)
    const { response } = read(answer.body)
    if (response?.allowed === false) {
      const { operation = '', kind, namespace = '', name, object, userInfo } = read(request.body).request ?? {}
      story.denied({
        operation,
        kind: kind?.kind ?? 'object',
        namespace,
        name: name || object?.metadata?.generateName || '',
        user: userInfo?.username ?? '',
        message: response.status?.message ?? '',
      })
    }
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
