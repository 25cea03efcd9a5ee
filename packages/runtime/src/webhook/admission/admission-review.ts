import { encodeJson, type JsonPatchOperation, parseJson, type Status } from '@kubewright/api'
import { headerOf, jsonResponse, type WebhookRequest, type WebhookResponse } from '../webhook-request.ts'

/** The request of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind?: { readonly group?: string; readonly version?: string; readonly kind?: string }
  readonly resource?: { readonly group?: string; readonly version?: string; readonly resource?: string }
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo?: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  readonly object?: object | null
  readonly oldObject?: object | null
  readonly dryRun?: boolean
  readonly options?: Readonly<Record<string, unknown>> | null
}

/** A decoded AdmissionReview. */
export interface OpenedReview {
  /** The version of the review, which the response must use too. */
  readonly apiVersion: string
  readonly request: AdmissionRequest
}

/** The decision about a request. */
export interface AdmissionAnswer {
  readonly allowed: boolean
  readonly status?: Partial<Status>
  readonly warnings?: readonly string[]
  readonly patch?: readonly JsonPatchOperation[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

/** The maximum size of a review: three objects of two megabytes each, and some overhead. */
export const maxReviewBytes: number = 7 * 1024 * 1024

const versions: readonly unknown[] = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']

/** The request is not a valid review. */
export class BadReviewError extends Error {
  override readonly name = 'BadReviewError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Parses the body of a request to a webhook server. Throws {@link BadReviewError} when it is invalid. */
export function readReviewBody(request: WebhookRequest): Readonly<Record<string, unknown>> {
  if (request.body.length === 0) throw new BadReviewError(400, 'request body is empty')
  if (request.body.length > maxReviewBytes) {
    throw new BadReviewError(413, `request entity is too large; limit is ${maxReviewBytes} bytes`)
  }
  const contentType = headerOf(request, 'content-type')
  if (contentType !== 'application/json') {
    throw new BadReviewError(400, `contentType=${contentType}, expected application/json`)
  }
  let review: unknown
  try {
    review = parseJson(request.body)
  } catch (error) {
    throw new BadReviewError(400, `couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  if (!isRecord(review)) throw new BadReviewError(400, 'the review is not a JSON object')
  return review
}

/** Decodes an AdmissionReview. Throws {@link BadReviewError} when it is invalid. */
export function openReview(request: WebhookRequest): OpenedReview {
  const { kind, apiVersion = versions[0], request: question } = readReviewBody(request)
  if (kind !== undefined && kind !== 'AdmissionReview') {
    throw new BadReviewError(400, `expected an AdmissionReview, got ${JSON.stringify(kind)}`)
  }
  if (!versions.includes(apiVersion)) {
    throw new BadReviewError(400, `AdmissionReview version ${JSON.stringify(apiVersion)} is not supported`)
  }
  if (!isRecord(question)) throw new BadReviewError(400, 'the AdmissionReview has no request')
  // The API server created it: its other fields are not checked.
  return { apiVersion: apiVersion as string, request: question as unknown as AdmissionRequest }
}

/** The response to a review, in the version of the request. */
export function reviewResponse(apiVersion: string, uid: string, answer: AdmissionAnswer): WebhookResponse {
  const { allowed, status = {}, warnings = [], patch = [], auditAnnotations } = answer
  const review = {
    kind: 'AdmissionReview',
    apiVersion,
    response: {
      uid,
      allowed,
      status: { metadata: {}, ...status, code: status.code || 200 },
      ...(patch.length > 0 ? { patch: Buffer.from(encodeJson(patch)).toString('base64'), patchType: 'JSONPatch' } : {}),
      ...(auditAnnotations === undefined ? {} : { auditAnnotations }),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  }
  return jsonResponse(`${encodeJson(review)}\n`)
}

/** The response to an invalid review. Neither its uid nor its version is known. */
export function badReviewResponse({ code, message }: BadReviewError): WebhookResponse {
  return reviewResponse('admission.k8s.io/v1', '', { allowed: false, status: { code, message } })
}

/** Whether the value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
