import type { WebhookHandler } from '@kubewright/runtime'
import type { ActivityLog } from './activity-log.ts'

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

/** Wraps a webhook handler so that its denials and warnings are logged. */
export function logReviews(handler: WebhookHandler, log: ActivityLog): WebhookHandler {
  return async (request) => {
    const response = await handler(request)
    const { allowed = true, status, warnings = [] } = read(response.body).response ?? {}
    if (allowed && warnings.length === 0) return response
    const { operation = '', kind, namespace = '', name, object, userInfo } = read(request.body).request ?? {}
    const review = {
      operation,
      kind: kind?.kind ?? 'object',
      namespace,
      name: name || object?.metadata?.generateName || '',
      user: userInfo?.username ?? '',
    }
    for (const message of warnings) log.reviewed({ ...review, result: 'warned', message })
    if (!allowed) log.reviewed({ ...review, result: 'denied', message: status?.message ?? '' })
    return response
  }
}

/** Parses an AdmissionReview. Empty for a body that is none, such as a ConversionReview that is not JSON. */
function read(body: Uint8Array): Review {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Review
  } catch {
    return {}
  }
}
