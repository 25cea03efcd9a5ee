import { ApiError, encodeJson, newBadRequest, newForbidden, newInternalError, type Status } from '@kubewright/api'
import { CaughtError, type Clock, goQuote, type Logger, type Random, uuid } from '@kubewright/base'
import type { Authorizer } from '../../auth/authorizer.ts'
import { type WebhookClient, WebhookConfigError } from '../../outgoing/webhook-client.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { ObjectLookup } from '../../registry/object-lookup.ts'
import type { Resource } from '../../resource/resource.ts'
import { DeferredAuthorizer } from '../expressions/deferred-authorizer.ts'
import { MatchConditionError, matchesConditions } from '../expressions/match-conditions.ts'
import { matchRequest } from '../requests/match-request.ts'
import { requestFacts } from '../requests/review-request.ts'
import type { ReviewedObjects, ReviewedRequest } from '../requests/reviewed-request.ts'
import { decodeReview, InvalidReviewError, type ReviewResponse } from './decode-review.ts'
import type { Webhook } from './webhook-configurations.ts'

/** The parts of the server that admission webhooks use. */
export interface WebhookParts extends ObjectAccess {
  readonly log: Logger
  readonly client: WebhookClient
  readonly authorizer: Authorizer
  readonly lookup: ObjectLookup
  readonly clock: Clock
  readonly random: Random
}

/** A webhook could not be called or returned an invalid response. Its failure policy decides what follows. */
export class WebhookFailure extends CaughtError {
  override readonly name = 'WebhookFailure'

  constructor(webhook: string, reason: string) {
    super(`failed calling webhook ${goQuote(webhook)}: ${reason}`)
  }
}

/**
 * The objects of a request in the version that a webhook matches. Throws an InternalError when they cannot be converted. As in
 * apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go, mutating webhooks wrap the error twice.
 */
async function objectsFor(request: ReviewedRequest, matched: Resource, mutating: boolean): Promise<ReviewedObjects> {
  try {
    return await request.objectsIn(matched)
  } catch (error) {
    const failure = newInternalError(error as Error)
    throw mutating ? newInternalError(failure) : failure
  }
}

/** The version of the resource with which a webhook is called, or undefined when it does not apply to the request. */
export async function relevantResource(
  parts: WebhookParts,
  { criteria, conditions, failurePolicy }: Webhook,
  request: ReviewedRequest,
  mutating: boolean,
): Promise<Resource | undefined> {
  const matched = await matchRequest(request, criteria, parts.lookup)
  if (!matched || conditions.length === 0) return matched
  const { attributes } = request
  const input = {
    request,
    facts: requestFacts(request, matched),
    objects: await objectsFor(request, matched, mutating),
    namespaceObject: null,
    authorizer: new DeferredAuthorizer(parts.authorizer, attributes.context.user),
  }
  try {
    return (await matchesConditions(conditions, input, failurePolicy)) ? matched : undefined
  } catch (error) {
    if (!(error instanceof MatchConditionError)) throw error
    const { group, plural } = attributes.resource.kind
    throw newForbidden({ group, resource: plural }, attributes.name, error)
  }
}

/** Calls a webhook. Throws {@link WebhookFailure}, or an ApiError when the webhook must not be called. */
export async function callWebhook(
  parts: WebhookParts,
  webhook: Webhook,
  request: ReviewedRequest,
  matched: Resource,
  mutating: boolean,
): Promise<ReviewResponse> {
  const { name, sideEffects, reviewVersion: version, timeoutSeconds, target } = webhook
  const { context, dryRun } = request.attributes
  if (dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
    throw newBadRequest(`admission webhook ${goQuote(name)} does not support dry run`)
  }
  if (!version) {
    const reason = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)'
    throw new WebhookFailure(name, `could not create admission objects: ${reason}`)
  }
  const uid = uuid(parts.random)
  const { options, dryRun: _, ...facts } = requestFacts(request, matched)
  const review = {
    kind: 'AdmissionReview',
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...facts, ...(await objectsFor(request, matched, mutating)), dryRun, options },
  }
  try {
    const { signal } = context.request
    const response = await parts.client.call(target, Buffer.from(encodeJson(review)), { timeoutSeconds, signal })
    return decodeReview(response, { version, uid, mutating })
  } catch (error) {
    const { message } = error as Error
    const what =
      error instanceof WebhookConfigError
        ? 'could not get REST client'
        : error instanceof InvalidReviewError
          ? 'received invalid webhook response'
          : 'failed to call webhook'
    throw new WebhookFailure(name, `${what}: ${message}`)
  }
}

/** Applies warnings and audit annotations of a response, and throws when the webhook denied the request. */
export function takeResponse({ name }: Webhook, request: ReviewedRequest, response: ReviewResponse): void {
  const { context } = request.attributes
  for (const [key, value] of Object.entries(response.auditAnnotations)) annotate(request, `${name}/${key}`, value)
  for (const text of response.warnings) context.warn(text)
  if (!response.allowed) throw rejection(name, response.status)
}

/** Adds an audit annotation. The first value of a key wins. */
export function annotate({ attributes }: ReviewedRequest, key: string, value: string): void {
  const { audit } = attributes.context
  if (!audit.has(key)) audit.set(key, value)
}

/** Converts the status of a webhook to an error (admission/plugin/webhook/errors). */
function rejection(name: string, given: Status | undefined): ApiError {
  const denied = `admission webhook ${goQuote(name)} denied the request`
  const { code = 0, status, message, reason, metadata = {}, ...rest }: Partial<Status> = given ?? {}
  const why = message || reason
  return new ApiError({
    ...rest,
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: status && status !== 'Success' ? status : 'Failure',
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    ...(reason ? { reason } : {}),
    // Codes below 400 become 400; codes that HTTP does not have become 500.
    code: code < 400 ? 400 : code > 999 ? 500 : code,
  })
}
