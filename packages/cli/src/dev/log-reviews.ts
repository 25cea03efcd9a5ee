import type { WebhookHandler } from '@kubewright/runtime'
import type { ActivityLog } from './activity-log.ts'

interface Review {
  readonly request?:
    | {
        readonly operation?: string | undefined
        readonly kind?: { readonly kind?: string | undefined } | undefined
        readonly namespace?: string | undefined
        readonly name?: string | undefined
        readonly object?:
          | { readonly metadata?: { readonly generateName?: string | undefined } | undefined }
          | null
          | undefined
        readonly userInfo?: { readonly username?: string | undefined } | undefined
      }
    | undefined
  readonly response?:
    | {
        readonly allowed?: boolean | undefined
        readonly status?: { readonly message?: string | undefined } | undefined
        readonly warnings?: readonly string[] | undefined
      }
    | undefined
}

/** Wraps a webhook handler so that its denials and warnings are logged. */
export function logReviews(handler: WebhookHandler, log: ActivityLog): WebhookHandler {
  const handle: WebhookHandler = async (request) => {
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
  return Object.assign(handle, { serves: handler.serves })
}

/** Parses an AdmissionReview. Empty for a body that is none, such as a ConversionReview that is not JSON. */
function read(body: Uint8Array): Review {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Review
  } catch {
    return {}
  }
}
