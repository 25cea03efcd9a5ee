import { encodeJson } from '@kubewright/api'
import { errorText, isJsonObject, textOf, textsOf } from '@kubewright/base'
import type { AccessReviewWebhook, TokenReviewWebhook } from '../../define/define-reviews.ts'
import { BadReviewError, readReviewBody } from '../admission/admission-review.ts'
import { type AnswerContext, isMistake } from '../admission/answer-admission.ts'
import { jsonResponse, textResponse, type WebhookRequest, type WebhookResponse } from '../webhook-request.ts'

type Fields = Readonly<Record<string, unknown>>

/** Responds to a TokenReview of authentication.k8s.io, in the version of the request. */
export function answerTokenReview(
  webhook: TokenReviewWebhook,
  request: WebhookRequest,
  context: AnswerContext,
): Promise<WebhookResponse> {
  const what = { kind: 'TokenReview', group: 'authentication.k8s.io' }
  return answerReview(request, context, what, async (spec) => {
    const token = textOf(spec['token'])
    if (token === '') return { authenticated: false, error: 'token is empty' }
    const { client, log, now, signal } = context
    try {
      const review = { token, audiences: textsOf(spec['audiences']), client, log, now, signal }
      const user = await webhook.authenticate(review)
      if (user === undefined) return { authenticated: false }
      const { name, groups, uid, extra, audiences } = user
      return { authenticated: true, user: { username: name, uid, groups, extra }, audiences }
    } catch (error) {
      return { authenticated: false, error: failureText(error, context) }
    }
  })
}

/** Responds to a SubjectAccessReview of authorization.k8s.io, in the version of the request. */
export function answerAccessReview(
  webhook: AccessReviewWebhook,
  request: WebhookRequest,
  context: AnswerContext,
): Promise<WebhookResponse> {
  const what = { kind: 'SubjectAccessReview', group: 'authorization.k8s.io' }
  return answerReview(request, context, what, async (spec) => {
    const { client, log, now, signal } = context
    const { resourceAttributes: resource, nonResourceAttributes: nonResource, uid, extra } = spec
    const user = {
      name: textOf(spec['user']),
      // v1beta1 names the field `group`.
      groups: textsOf(spec['groups'] ?? spec['group']),
      ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
      ...(isJsonObject(extra) ? { extra: extra as Record<string, string[]> } : {}),
    }
    try {
      const answer = await webhook.authorize({
        user,
        resource: isJsonObject(resource) ? resourceOf(resource) : undefined,
        nonResource: isJsonObject(nonResource)
          ? { verb: textOf(nonResource['verb']), path: textOf(nonResource['path']) }
          : undefined,
        client,
        log,
        now,
        signal,
      })
      const { decision, reason } = typeof answer === 'string' ? { decision: answer, reason: undefined } : answer
      return { allowed: decision === 'allow', ...(decision === 'deny' ? { denied: true } : {}), reason }
    } catch (error) {
      return { allowed: false, evaluationError: failureText(error, context) }
    }
  })
}

async function answerReview(
  request: WebhookRequest,
  { log }: AnswerContext,
  { kind, group }: { readonly kind: string; readonly group: string },
  statusOf: (spec: Fields) => Promise<object>,
): Promise<WebhookResponse> {
  let review: Fields
  try {
    review = readReviewBody(request)
  } catch (error) {
    if (!(error instanceof BadReviewError)) throw error
    log.error(error, 'unable to decode the request')
    return textResponse(error.code, error.message)
  }
  const { apiVersion, spec } = review
  if (review['kind'] !== kind || (apiVersion !== `${group}/v1` && apiVersion !== `${group}/v1beta1`)) {
    const found = `${JSON.stringify(review['kind'] ?? '')} of ${JSON.stringify(apiVersion ?? '')}`
    return textResponse(400, `expected a ${kind} of ${group}/v1 or v1beta1, got ${found}`)
  }
  const status = await statusOf(isJsonObject(spec) ? spec : {})
  // The spec is not repeated: it contains the token.
  return jsonResponse(`${encodeJson({ apiVersion, kind, metadata: {}, spec: {}, status })}\n`)
}

function resourceOf(attributes: Fields) {
  const text = (field: string): string => textOf(attributes[field])
  return {
    verb: text('verb'),
    group: text('group'),
    version: text('version'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  }
}

function failureText(error: unknown, { log, panicked }: AnswerContext): string {
  if (isMistake(error)) {
    panicked()
    log.error(error, 'Observed a panic')
  }
  return errorText(error)
}
