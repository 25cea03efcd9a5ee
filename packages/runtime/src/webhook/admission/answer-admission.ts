import { type ApiError, createJsonPatch, isApiError } from '@kubewright/api'
import { deepCopy, deepFreeze, errorText, type Logger } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { Review, Webhook } from '../../define/define-webhook.ts'
import { explainReadOnly } from '../../telemetry/explain-read-only.ts'
import type { AdmissionAnswer, AdmissionRequest } from './admission-review.ts'
import { verdictOf } from './issue-error.ts'

/** The context of one review. */
export interface AnswerContext {
  readonly client: Reader
  readonly signal: AbortSignal
  readonly now: () => Date
  readonly log: Logger
  /** Called after a programming error in the webhook. */
  readonly panicked: () => void
}

const admitted: AdmissionAnswer = { allowed: true }

/** Calls the defaulting function of a webhook. The response patches what it changed. */
export async function answerDefaulting(
  webhook: Webhook,
  request: AdmissionRequest,
  context: AnswerContext,
): Promise<AdmissionAnswer> {
  const review = reviewOf(request, context)
  if (review === undefined || review.operation === 'DELETE') return admitted
  const problem = problemOf(webhook, request, request.object)
  if (problem !== undefined) return problem
  const object = request.object as Record<string, unknown>
  const draft = deepCopy(object)
  // A webhook need not check for a missing spec: the schema validation reports it later.
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

/** Calls the validating function of a webhook. */
export async function answerValidation(
  webhook: Webhook,
  request: AdmissionRequest,
  context: AnswerContext,
): Promise<AdmissionAnswer> {
  const review = reviewOf(request, context)
  if (review === undefined) return admitted
  const deletes = review.operation === 'DELETE'
  const validate = deletes ? webhook.validateDelete : webhook.validate
  const object = deletes ? request.oldObject : request.object
  const problem = problemOf(webhook, request, object)
  if (problem !== undefined) return problem
  try {
    // Objects are deeply frozen wherever user code reads them.
    const issues = await validate(deepFreeze(object) as never, review)
    const { error, warnings } = verdictOf(webhook.kind, object as object, issues)
    return error === undefined ? { allowed: true, warnings } : { ...statusAnswer(error), warnings }
  } catch (error) {
    return refusal(error, context)
  }
}

/** The context that the webhook receives; undefined for operations that it does not handle. */
function reviewOf(request: AdmissionRequest, { client, log, now, signal }: AnswerContext): Review<never> | undefined {
  const { operation, oldObject, subResource, dryRun, options, namespace } = request
  if (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE') return undefined
  return {
    operation,
    subresource: subResource || undefined,
    // The object is of the webhook's kind, so it has its type.
    ...(oldObject ? { old: deepFreeze(oldObject) as never } : {}),
    user: reviewedUser(request),
    dryRun: dryRun ?? false,
    options: options ?? {},
    namespace: namespace || undefined,
    client,
    now,
    log,
    signal,
  }
}

/** The user who sent a request. */
export function reviewedUser({ userInfo }: AdmissionRequest): Review<never>['user'] {
  const { username, groups, uid, extra } = userInfo ?? {}
  return { name: username ?? '', groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) }
}

/** The rejection of a request that does not fit the webhook. */
function problemOf(webhook: Webhook, request: AdmissionRequest, object: unknown): AdmissionAnswer | undefined {
  const { group, version, kind } = webhook.kind
  const requested = request.kind
  if (requested && ((requested.group ?? '') !== group || requested.version !== version || requested.kind !== kind)) {
    const what = `${requested.group ?? ''}/${requested.version ?? ''} ${requested.kind ?? ''}`
    const message = `the webhook handles ${group}/${version} ${kind}, but received ${what}: correct the rules of its configuration`
    return { allowed: false, status: { code: 400, message } }
  }
  if (typeof object === 'object' && object !== null) return undefined
  return { allowed: false, status: { code: 400, message: 'there is no content to decode' } }
}

/**
 * The response when a webhook throws: the Status of an ApiError, 500 for programming errors, Forbidden for other
 * errors.
 */
export function refusal(error: unknown, { log, panicked }: AnswerContext): AdmissionAnswer {
  const api = apiErrorIn(error)
  if (api !== undefined) return statusAnswer(api)
  if (isMistake(error)) {
    explainReadOnly(error)
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

/** The ApiError in the chain of causes, if any. */
function apiErrorIn(error: unknown): ApiError | undefined {
  for (let depth = 0; depth < 16 && error instanceof Error; depth++) {
    if (isApiError(error)) return error
    error = error.cause
  }
  return isApiError(error) ? error : undefined
}

/** Whether a thrown value indicates a programming error: the equivalent of a Go panic. */
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
