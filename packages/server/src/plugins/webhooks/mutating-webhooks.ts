import { applyJsonPatch, decodeJsonPatch, newInternalError, newTimeoutError, parseJson } from '@kubewright/api'
import { deepCopy, deepEqual, goQuote } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin, MutationRound } from '../../admission/admission.ts'
import { andThen } from '../../request/awaitable.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import { reinvocationOf } from '../reinvocation.ts'
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

const pluginName = 'MutatingAdmissionWebhook'
const annotationPrefix = 'mutation.webhook.admission.k8s.io/'

/** Calls the webhooks of MutatingWebhookConfigurations in order. Each receives the object as the previous ones changed it. */
export function mutatingWebhooks(parts: WebhookParts): AdmissionPlugin {
  const configurations = new WebhookConfigurations(parts, 'mutatingwebhookconfigurations')
  const callAll = async (
    webhooks: readonly Webhook[],
    attributes: AdmissionAttributes,
    round: MutationRound,
  ): Promise<void> => {
    const state = reinvocationOf(round, pluginName)
    // Another plugin changed the object after the first round of webhooks.
    if (round.isRepeat && !deepEqual(state.output, attributes.object)) state.changed()
    const request = new ReviewedRequest(attributes, parts.resources)
    for (const [index, webhook] of webhooks.entries()) {
      if (round.isRepeat && !state.includes(webhook.id)) continue
      const matched = await relevantResource(parts, webhook, request, true)
      if (!matched) continue
      if (await invoke(parts, webhook, request, matched, `round_${round.isRepeat ? 1 : 0}_index_${index}`)) {
        state.changed()
        round.repeat()
      }
      // After the change of its own: a webhook is not called again for what it changed itself.
      if (webhook.reinvokes) state.invoked(webhook.id)
    }
    state.output = deepCopy(attributes.object) as MutableObject | undefined
  }
  return {
    name: pluginName,
    mutate: (attributes, round) => {
      if (configuresAdmission(attributes.resource)) return undefined
      return andThen(configurations.list(), (webhooks) =>
        webhooks.length === 0 ? undefined : callAll(webhooks, attributes, round),
      )
    },
  }
}

/** Calls one webhook and applies its patch; returns whether the object changed. */
async function invoke(
  parts: WebhookParts,
  webhook: Webhook,
  request: ReviewedRequest,
  matched: Resource,
  place: string,
): Promise<boolean> {
  const { name, configuration } = webhook
  let changed = false
  try {
    const response = await callWebhook(parts, webhook, request, matched, true)
    takeResponse(webhook, request, response)
    changed = await applyPatch(webhook, request, matched, response)
  } catch (error) {
    if (!(error instanceof WebhookFailure)) throw error
    if (webhook.failurePolicy !== 'Ignore') throw newInternalError(error)
    parts.log.info('Failed calling webhook, failing open', { webhook: name, error: error.message })
    annotate(request, `failed-open.${annotationPrefix}${place}`, name)
    // Failing open applies to the webhook, not to a request that the client gave up.
    if (request.attributes.context.request.signal.aborted) {
      throw newTimeoutError('request did not complete within requested timeout', 0)
    }
  } finally {
    const value = JSON.stringify({ configuration, webhook: name, mutated: changed })
    annotate(request, annotationPrefix + place, value)
  }
  return changed
}

async function applyPatch(
  { name }: Webhook,
  request: ReviewedRequest,
  matched: Resource,
  { patch, patchType }: ReviewResponse,
): Promise<boolean> {
  if (patch === undefined) return false
  let operations: ReturnType<typeof decodeJsonPatch>
  try {
    operations = decodeJsonPatch(parseJson(Buffer.from(patch)), 'Ignore')
  } catch (error) {
    throw new WebhookFailure(name, `received undecodable patch in webhook response: ${(error as Error).message}`)
  }
  if (operations.length === 0) return false
  const { object } = await request.objectsIn(matched)
  if (!object) {
    const why = `admission webhook ${goQuote(name)} attempted to modify the object, which is not supported for this operation`
    throw newInternalError(why)
  }
  if (patchType !== 'JSONPatch') throw new WebhookFailure(name, `unsupported patch type ${goQuote(patchType)}`)
  try {
    await request.replaceObject(matched, applyJsonPatch(object, operations))
  } catch (error) {
    throw newInternalError(error as Error)
  }
  return !deepEqual((await request.objectsIn(matched)).object, object)
}
