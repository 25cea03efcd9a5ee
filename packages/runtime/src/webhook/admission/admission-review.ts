import { encodeJson, type JsonPatchOperation, parseJson, type Status } from '@kubewright/api'
import { CaughtError, defineBudget, isJsonObject } from '@kubewright/base'
import { headerOf, jsonResponse, type WebhookRequest, type WebhookResponse } from '../webhook-request.ts'

/** The request of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind?:
    | { readonly group?: string | undefined; readonly version?: string | undefined; readonly kind?: string | undefined }
    | undefined
  readonly resource?:
    | {
        readonly group?: string | undefined
        readonly version?: string | undefined
        readonly resource?: string | undefined
      }
    | undefined
  readonly subResource?: string | undefined
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly operation: string
  readonly userInfo?:
    | {
        readonly username?: string | undefined
        readonly uid?: string | undefined
        readonly groups?: readonly string[] | undefined
        readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
      }
    | undefined
  readonly object?: object | null | undefined
  readonly oldObject?: object | null | undefined
  readonly dryRun?: boolean | undefined
  readonly options?: Readonly<Record<string, unknown>> | null | undefined
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
  readonly status?: Partial<Status> | undefined
  readonly warnings?: readonly string[] | undefined
  readonly patch?: readonly JsonPatchOperation[] | undefined
  readonly auditAnnotations?: Readonly<Record<string, string>> | undefined
}

/** The maximum size of a review: three objects of two megabytes each, and some overhead. */
export const maxReviewBytes: number = defineBudget(7 * 1024 * 1024, {
  group: 'other',
  what: 'size of a review, webhook server of an operator',
  unit: 'bytes',
  answer: 'a review with the code 413',
})

const versions: readonly unknown[] = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1']

/** The request is not a valid review. */
export class BadReviewError extends CaughtError {
  override readonly name = 'BadReviewError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const tooLarge = (): BadReviewError =>
  new BadReviewError(413, `request entity is too large; limit is ${maxReviewBytes} bytes`)

/** The response to a review of more than {@link maxReviewBytes}. */
export const tooLargeResponse = (): WebhookResponse => badReviewResponse(tooLarge())

/** Parses the body of a request to a webhook server. Throws {@link BadReviewError} when it is invalid. */
export function readReviewBody(request: WebhookRequest): Readonly<Record<string, unknown>> {
  if (request.body.length === 0) throw new BadReviewError(400, 'request body is empty')
  if (request.body.length > maxReviewBytes) throw tooLarge()
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
  if (!isJsonObject(review)) throw new BadReviewError(400, 'the review is not a JSON object')
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
  if (!isJsonObject(question)) throw new BadReviewError(400, 'the AdmissionReview has no request')
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
