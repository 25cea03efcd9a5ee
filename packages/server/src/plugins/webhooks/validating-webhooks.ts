import { newInternalError } from '@kubewright/api'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import { andThen } from '../../request/awaitable.ts'
import type { Resource } from '../../resource/resource.ts'
import { configuresAdmission } from '../requests/exempt-resources.ts'
import { ReviewedRequest } from '../requests/reviewed-request.ts'
import {
  annotate,
  callWebhook,
  relevantResource,
  takeResponse,
  WebhookFailure,
  type WebhookParts,
} from './call-webhook.ts'
import type { ReviewResponse } from './decode-review.ts'
import { type Webhook, WebhookConfigurations } from './webhook-configurations.ts'

/**
 * Calls the webhooks of ValidatingWebhookConfigurations concurrently. When several deny the request, the client receives the
 * message of the first one in configuration order, whatever order they respond in.
 */
export function validatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const configurations = new WebhookConfigurations(parts, 'validatingwebhookconfigurations')
  const callAll = async (webhooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<void> => {
    const request = new ReviewedRequest(attributes, parts.resources)
    const relevant: [Webhook, Resource][] = []
    for (const webhook of webhooks) {
      const matched = await relevantResource(parts, webhook, request, false)
      if (matched) relevant.push([webhook, matched])
    }
    const outcomes = await Promise.allSettled(
      relevant.map(([webhook, matched]) => callWebhook(parts, webhook, request, matched, false)),
    )
    const errors: unknown[] = []
    for (const [index, outcome] of outcomes.entries()) {
      try {
        take(parts, relevant[index]![0], request, outcome, index)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
  return {
    name: 'ValidatingAdmissionWebhook',
    validate: (attributes) => {
      if (configuresAdmission(attributes.resource)) return undefined
      return andThen(configurations.list(), (webhooks) =>
        webhooks.length === 0 ? undefined : callAll(webhooks, attributes),
      )
    },
  }
}

/** Applies a response; throws when it denies the request. */
function take(
  { log }: WebhookParts,
  webhook: Webhook,
  request: ReviewedRequest,
  outcome: PromiseSettledResult<ReviewResponse>,
  index: number,
): void {
  if (outcome.status === 'fulfilled') {
    takeResponse(webhook, request, outcome.value)
    return
  }
  const error: unknown = outcome.reason
  if (!(error instanceof WebhookFailure)) throw error
  if (webhook.failurePolicy !== 'Ignore') throw newInternalError(error)
  log.info('Failed calling webhook, failing open', { webhook: webhook.name, error: error.message })
  annotate(request, `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, webhook.name)
}
