import { looksLikeJson, parseJson, parseYaml, type Status } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { decodeGo, GoDecodeError, goJsonKind, typeMetaMismatch } from '../../builtins/go-codec.ts'

/** The versions of AdmissionReview. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** What a webhook decided. */
export interface ReviewResponse {
  readonly allowed: boolean
  readonly status: Status | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** The JSON of a patch; undefined when there is none. */
  readonly patch: string | undefined
  readonly patchType: string
}

/** A webhook answered something that it must not answer. */
export class InvalidReviewError extends Error {
  override readonly name = 'InvalidReviewError'
}

interface Response {
  readonly uid?: string
  readonly allowed?: boolean
  readonly status?: Status
  readonly patch?: string
  readonly patchType?: string
  readonly auditAnnotations?: Record<string, string>
  readonly warnings?: string[]
}

const group = 'admission.k8s.io'
const scheme = 'k8s.io/apiserver/pkg/util/webhook/client.go:71'

/**
 * Reads the answer to a review. Throws an Error for what is no AdmissionReview at all, and {@link InvalidReviewError} for one that does
 * not answer the question (admission/plugin/webhook/request/admissionreview.go).
 */
export function decodeReview(
  body: Uint8Array,
  expected: { readonly version: ReviewVersion; readonly uid: string; readonly mutating: boolean },
): ReviewResponse {
  const review = parseReview(body)
  const { kind, apiVersion } = checkType(review, expected.version)
  const response = decodeResponse(review['response'], expected.version)
  if (!response) throw new InvalidReviewError('webhook response was absent')
  const { allowed = false, status, warnings = [], auditAnnotations = {} } = response
  const patch = Buffer.from(response.patch ?? '', 'base64').toString('utf8')
  const answer = { allowed, status, warnings, auditAnnotations }
  if (expected.version === 'v1beta1') {
    return expected.mutating && patch !== ''
      ? { ...answer, patch, patchType: 'JSONPatch' }
      : { ...answer, patch: undefined, patchType: '' }
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
  return { ...answer, patch: patch === '' ? undefined : patch, patchType: response.patchType ?? '' }
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

/** Answers are recognized as JSON, and taken for YAML otherwise. */
function parseReview(body: Uint8Array): Record<string, unknown> {
  const text = Buffer.from(body).toString('utf8')
  let value: unknown
  try {
    value = looksLikeJson(text) ? parseJson(body) : parseYaml(text)
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw new Error(`couldn't get version/kind; json parse error: ${typeMetaMismatch(value)}`)
  }
  const review = (value ?? {}) as Record<string, unknown>
  for (const field of ['apiVersion', 'kind']) {
    const found = review[field] ?? ''
    if (typeof found === 'string') continue
    const why = mismatch(found, `.${field}`, 'string').message
    throw new Error(`couldn't get version/kind; json parse error: ${why}`)
  }
  return review
}

function checkType(review: Record<string, unknown>, wanted: ReviewVersion): { kind: string; apiVersion: string } {
  const kind = (review['kind'] ?? '') as string
  const apiVersion = (review['apiVersion'] ?? '') as string
  const known = apiVersion === '' ? `${group}/${wanted}` : apiVersion
  const registered = known === `${group}/v1` || known === `${group}/v1beta1`
  if (!registered || (kind !== '' && kind !== 'AdmissionReview')) {
    const name = goQuote(kind || 'AdmissionReview')
    throw new Error(`no kind ${name} is registered for version ${goQuote(known)} in scheme ${goQuote(scheme)}`)
  }
  const version = known.slice(group.length + 1)
  if (version !== wanted) {
    throw new Error(`converting (${version}.AdmissionReview) to (${wanted}.AdmissionReview): unknown conversion`)
  }
  return { kind, apiVersion }
}

/** The response by its Go type; the first field that does not fit is the error. */
function decodeResponse(value: unknown, version: ReviewVersion): Response | undefined {
  if (value === undefined || value === null) return undefined
  const isObject = typeof value === 'object' && !Array.isArray(value)
  if (!isObject) throw mismatch(value, 'AdmissionReview.response', `${version}.AdmissionResponse`)
  const given = value as Record<string, unknown>
  const field = <T>(name: string, type: string, fits: (value: unknown) => boolean): T | undefined => {
    const found = given[name]
    if (found === undefined || found === null) return undefined
    if (!fits(found)) throw mismatch(found, `AdmissionResponse.response.${name}`, type)
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
    throw mismatch(value, 'AdmissionResponse.response.status', 'v1.Status')
  }
  try {
    return decodeGo('meta/v1.Status', value) as Status
  } catch (error) {
    throw error instanceof GoDecodeError ? new Error(error.message) : error
  }
}

function isStringMap(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value as object).every((text) => typeof text === 'string')
  )
}

/** Where Go's decoder stops. */
function checkBase64(text: string): void {
  const clean = text.replace(/[\r\n]/g, '')
  const good = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?/.exec(clean)![0].length
  if (good < clean.length) {
    const offset = clean.slice(good).search(/[^A-Za-z0-9+/]/)
    throw new Error(`illegal base64 data at input byte ${offset < 0 ? good : good + offset}`)
  }
}

function mismatch(value: unknown, field: string, type: string): Error {
  return new Error(`json: cannot unmarshal ${goJsonKind(value)} into Go struct field ${field} of type ${type}`)
}
