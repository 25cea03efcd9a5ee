import { type ApiError, createJsonPatch, isApiError } from '@kubewright/api'
import { deepCopy, deepFreeze, errorText, type Logger } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { Review, Webhook } from '../../define/define-webhook.ts'
import type { AdmissionAnswer, AdmissionRequest } from './admission-review.ts'
import { verdictOf } from './issue-error.ts'

/** What surrounds the answer to one review. */
export interface AnswerContext {
  readonly client: Reader
  readonly signal: AbortSignal
  readonly now: () => Date
  readonly log: Logger
  /** Told that the code of the webhook made a mistake. */
  readonly panicked: () => void
}

const admitted: AdmissionAnswer = { allowed: true }

/** Has a webhook default the object of a request: the answer patches what it changed. */
export async function answerDefaulting(
  webhook: Webhook,
  request: AdmissionRequest,
  context: AnswerContext,
): Promise<AdmissionAnswer> {
  const review = reviewOf(request, context)
  if (review === undefined || review.operation === 'DELETE' || !webhook.default) return admitted
  const problem = problemOf(webhook, request, request.object)
  if (problem !== undefined) return problem
  const object = request.object as Record<string, unknown>
  const draft = deepCopy(object)
  // A user may leave out what the schema requires, and is told so later; a webhook need not look for it first.
  const padded = draft['spec'] === undefined && webhook.kind.schema.properties?.['spec']?.type === 'object'
  if (padded) draft['spec'] = {}
  try {
    await webhook.default(draft as never, review)
  } catch (error) {
    return refusal(error, context)
  }
  if (padded && isEmpty(draft['spec'])) delete draft['spec']
  return { allowed: true, patch: createJsonPatch(object, draft) }
}

/** Has a webhook validate the object of a request. */
export async function answerValidation(
  webhook: Webhook,
  request: AdmissionRequest,
  context: AnswerContext,
): Promise<AdmissionAnswer> {
  const review = reviewOf(request, context)
  if (review === undefined) return admitted
  const deletes = review.operation === 'DELETE'
  const validate = deletes ? (webhook.validateDelete ?? webhook.validate) : webhook.validate
  if (!validate) return admitted
  const object = deletes ? request.oldObject : request.object
  const problem = problemOf(webhook, request, object)
  if (problem !== undefined) return problem
  try {
    // What readers get is frozen everywhere.
    const issues = await validate(deepFreeze(object) as never, review)
    const { error, warnings } = verdictOf(webhook.kind, object as object, issues)
    return error === undefined ? { allowed: true, warnings } : { ...statusAnswer(error), warnings }
  } catch (error) {
    return refusal(error, context)
  }
}

/** What the webhook is told of the request; undefined for operations that webhooks of objects are not about. */
function reviewOf(request: AdmissionRequest, { client, log, now, signal }: AnswerContext): Review<never> | undefined {
  const { operation, oldObject, userInfo, dryRun, options, namespace } = request
  if (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE') return undefined
  const { username, groups, uid, extra } = userInfo ?? {}
  return {
    operation,
    // The types are promised by the kind, whose objects these are.
    ...(oldObject ? { old: deepFreeze(oldObject) as never } : {}),
    user: { name: username ?? '', groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) },
    dryRun: dryRun ?? false,
    options: options ?? {},
    namespace: namespace || undefined,
    client,
    now,
    log,
    signal,
  }
}

/** Why a request cannot be for the webhook. */
function problemOf(webhook: Webhook, request: AdmissionRequest, object: unknown): AdmissionAnswer | undefined {
  const { group, version, kind } = webhook.kind
  const asked = request.kind
  if (asked && ((asked.group ?? '') !== group || asked.version !== version || asked.kind !== kind)) {
    const what = `${asked.group ?? ''}/${asked.version ?? ''} ${asked.kind ?? ''}`
    const message = `the webhook is for ${group}/${version} ${kind}, and was asked about ${what}: correct the rules of its configuration`
    return { allowed: false, status: { code: 400, message } }
  }
  if (typeof object === 'object' && object !== null) return undefined
  return { allowed: false, status: { code: 400, message: 'there is no content to decode' } }
}

/** The answer when a webhook threw: the Status of an API error, Forbidden for other errors, and for mistakes in its code a 500. */
function refusal(error: unknown, { log, panicked }: AnswerContext): AdmissionAnswer {
  const api = apiErrorIn(error)
  if (api !== undefined) return statusAnswer(api)
  if (isMistake(error)) {
    panicked()
    log.error(error, 'Observed a panic')
    return { allowed: false, status: { code: 500, message: `panic: ${errorText(error)} [recovered]` } }
  }
  return { allowed: false, status: { code: 403, reason: 'Forbidden', message: errorText(error) } }
}

function statusAnswer({ status }: ApiError): AdmissionAnswer {
  const { kind: _, apiVersion: __, ...rest } = status
  return { allowed: false, status: rest }
}

/** An API error, also one that is the cause of others. */
function apiErrorIn(error: unknown): ApiError | undefined {
  for (let depth = 0; depth < 16 && error instanceof Error; depth++) {
    if (isApiError(error)) return error
    error = error.cause
  }
  return isApiError(error) ? error : undefined
}

/** Whether what was thrown comes from a slip in the code rather than from its judgement: what Go would call a panic. */
export function isMistake(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  return (
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  )
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
