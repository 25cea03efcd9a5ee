import { deepFreeze } from '@kubewright/base'
import type { AdmissionWebhook, AdmittedObject, RawReview } from '../../define/define-admission.ts'
import type { AdmissionAnswer, AdmissionRequest } from './admission-review.ts'
import { type AnswerContext, refusal, reviewedUser } from './answer-admission.ts'

/** Calls a raw webhook with the request as it is. */
export async function answerRaw(
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  context: AnswerContext,
): Promise<AdmissionAnswer> {
  try {
    const result = await webhook.handle(rawReview(request, context))
    const { allowed, message, code, reason, warnings = [], patch = [], auditAnnotations } = result
    if (patch.length > 0 && webhook.defaulting === undefined) {
      throw new TypeError(`the webhook "${webhook.name}" returned a patch: define it with type: 'mutating'`)
    }
    const status = {
      ...(message === undefined ? {} : { message }),
      ...(reason === undefined ? {} : { reason }),
      ...(allowed ? {} : { code: code ?? 403 }),
    }
    return {
      allowed,
      status,
      warnings,
      // The API server rejects a patch in a response that does not allow the request.
      ...(allowed ? { patch } : {}),
      ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
    }
  } catch (error) {
    return refusal(error, context)
  }
}

function rawReview(request: AdmissionRequest, { client, log, now, signal }: AnswerContext): RawReview {
  const { uid, kind, resource, subResource, name, namespace, operation, object, oldObject, dryRun, options } = request
  return {
    uid,
    // The API server sends no other operations.
    operation: operation as RawReview['operation'],
    kind: { group: kind?.group ?? '', version: kind?.version ?? '', kind: kind?.kind ?? '' },
    resource: {
      group: resource?.group ?? '',
      version: resource?.version ?? '',
      resource: resource?.resource ?? '',
    },
    subresource: subResource || undefined,
    name: name ?? '',
    namespace: namespace || undefined,
    object: object ? (deepFreeze(object) as AdmittedObject) : undefined,
    ...(oldObject ? { old: deepFreeze(oldObject) as AdmittedObject } : {}),
    user: reviewedUser(request),
    dryRun: dryRun ?? false,
    options: options ?? {},
    client,
    log,
    now,
    signal,
  }
}
