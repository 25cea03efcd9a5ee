import type { Status } from '@kubewright/api'
import { base64Prefix, CaughtError, goQuote } from '@kubewright/base'
import { GoDecodeError } from '../../codec/json/go-codec.ts'
import { defaultServedRelease } from '../../codec/served-release.ts'
import { goMismatch, openReview } from '../../outgoing/review-envelope.ts'

/** The versions of AdmissionReview. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** The decision of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean
  readonly status: Status | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** The patch as JSON text. */
  readonly patch: string | undefined
  readonly patchType: string
}

/** The response of a webhook violates the contract of AdmissionReview. */
export class InvalidReviewError extends CaughtError {
  override readonly name = 'InvalidReviewError'
}

interface Response {
  readonly uid?: string | undefined
  readonly allowed?: boolean | undefined
  readonly status?: Status | undefined
  readonly patch?: string | undefined
  readonly patchType?: string | undefined
  readonly auditAnnotations?: Record<string, string> | undefined
  readonly warnings?: string[] | undefined
}

const group = 'admission.k8s.io'

/**
 * Decodes the response of a webhook. Throws an Error when it is no AdmissionReview, and {@link InvalidReviewError} when the review
 * is invalid (admission/plugin/webhook/request/admissionreview.go).
 */
export function decodeReview(
  body: Uint8Array,
  expected: { readonly version: ReviewVersion; readonly uid: string; readonly mutating: boolean },
): ReviewResponse {
  const { review, kind, apiVersion } = openReview(body, { group, kind: 'AdmissionReview', version: expected.version })
  const response = decodeResponse(review['response'], expected.version)
  if (!response) throw new InvalidReviewError('webhook response was absent')
  const { allowed = false, status, warnings = [], auditAnnotations = {} } = response
  const patch = Buffer.from(response.patch ?? '', 'base64').toString('utf8')
  const decision = { allowed, status, warnings, auditAnnotations }
  if (expected.version === 'v1beta1') {
    return expected.mutating && patch !== ''
      ? { ...decision, patch, patchType: 'JSONPatch' }
      : { ...decision, patch: undefined, patchType: '' }
  }
  if ((response.uid ?? '') !== expected.uid) {
    const got = goQuote(response.uid ?? '')
    throw new InvalidReviewError(`expected response.uid=${goQuote(expected.uid)}, got ${got}`)
  }
  if (kind !== 'AdmissionReview' || apiVersion !== `${group}/v1`) {
    const got = `${apiVersion === '' ? '/' : apiVersion}, Kind=${kind}`
    throw new InvalidReviewError(`expected webhook response of ${group}/v1, Kind=AdmissionReview, got ${got}`)
  }
  checkPatch(response, expected.mutating)
  return { ...decision, patch: patch === '' ? undefined : patch, patchType: response.patchType ?? '' }
}

function checkPatch({ patch = '', patchType }: Response, mutating: boolean): void {
  const problem = !mutating
    ? patch !== ''
      ? 'validating webhook may not return response.patch'
      : patchType !== undefined && 'validating webhook may not return response.patchType'
    : patch !== ''
      ? patchType === undefined
        ? 'webhook returned response.patch but not response.patchType'
        : patchType === '' && 'webhook returned invalid response.patchType of ""'
      : patchType !== undefined && 'webhook returned response.patchType but not response.patch'
  if (problem) throw new InvalidReviewError(problem)
}

/** Decodes the response as its Go type; throws for the first field that does not fit. */
function decodeResponse(value: unknown, version: ReviewVersion): Response | undefined {
  if (value === undefined || value === null) return undefined
  const isObject = typeof value === 'object' && !Array.isArray(value)
  if (!isObject) throw goMismatch(value, 'AdmissionReview.response', `${version}.AdmissionResponse`)
  const given = value as Record<string, unknown>
  const field = <T>(name: string, type: string, fits: (value: unknown) => boolean): T | undefined => {
    const found = given[name]
    if (found === undefined || found === null) return undefined
    if (!fits(found)) throw goMismatch(found, `AdmissionResponse.response.${name}`, type)
    return found as T
  }
  const isString = (candidate: unknown): boolean => typeof candidate === 'string'
  const patch = field<string>('patch', '[]uint8', isString)
  if (patch !== undefined) checkBase64(patch)
  const read: { -readonly [name in keyof Response]: Response[name] | undefined } = {
    uid: field('uid', 'types.UID', isString),
    allowed: field('allowed', 'bool', (candidate) => typeof candidate === 'boolean'),
    status: decodeStatus(given['status']),
    patch,
    patchType: field('patchType', `${version}.PatchType`, isString),
    auditAnnotations: field('auditAnnotations', 'map[string]string', isStringMap),
    warnings: field('warnings', '[]string', (candidate) => Array.isArray(candidate) && candidate.every(isString)),
  }
  return Object.fromEntries(Object.entries(read).filter(([, found]) => found !== undefined))
}

function decodeStatus(value: unknown): Status | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw goMismatch(value, 'AdmissionResponse.response.status', 'v1.Status')
  }
  try {
    return defaultServedRelease.json.decode('meta/v1.Status', value) as Status
  } catch (error) {
    if (!(error instanceof GoDecodeError)) throw error
    // Go names a field by its path from the outermost struct.
    throw new CaughtError(error.message.replace(/(Go struct field \w+\.)/, '$1response.status.'))
  }
}

function isStringMap(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value as object).every((text) => typeof text === 'string')
  )
}

/** Throws at the position where Go's decoder stops. */
function checkBase64(text: string): void {
  const clean = text.replace(/[\r\n]/g, '')
  const good = base64Prefix(clean)
  if (good < clean.length) {
    const offset = clean.slice(good).search(/[^A-Za-z0-9+/]/)
    throw new CaughtError(`illegal base64 data at input byte ${offset < 0 ? good : good + offset}`)
  }
}
