import { encodeJson } from '@kubewright/api'
import { CaughtError, goQuote } from '@kubewright/base'
import { goMismatch, openReview } from '../../outgoing/review-envelope.ts'
import type { MutableObject } from '../../resource/object.ts'

/** The versions of ConversionReview. */
export type ConversionReviewVersion = 'v1' | 'v1beta1'

const group = 'apiextensions.k8s.io'
const kind = 'ConversionReview'

/** The first review version in the list of a CRD that the server supports. */
export function reviewVersionOf(accepted: readonly string[]): ConversionReviewVersion {
  for (const version of accepted) if (version === 'v1' || version === 'v1beta1') return version
  throw new CaughtError('no supported conversion review versions')
}

/** The body of a conversion request, byte for byte as kube-apiserver sends it: with an empty response. */
export function encodeConversionReview(
  version: ConversionReviewVersion,
  request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly MutableObject[] },
): Uint8Array {
  const { uid, desiredAPIVersion, objects } = request
  const review = {
    kind,
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion, objects },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  }
  return Buffer.from(encodeJson(review))
}

/** The converted objects of a response, unchecked. Throws an Error with kube-apiserver's text for a malformed response. */
export function decodeConversionReview(body: Uint8Array, version: ConversionReviewVersion, uid: string): unknown[] {
  const { review, apiVersion, kind: named } = openReview(body, { group, kind, version })
  const response = objectIn(review['response'], `${kind}.response`, `${version}.ConversionResponse`)
  const answered = stringIn(response?.['uid'], 'ConversionResponse.response.uid', 'types.UID')
  const result = objectIn(response?.['result'], 'ConversionResponse.response.result', 'v1.Status')
  const status = stringIn(result?.['status'], 'Status.response.result.status', 'string')
  const message = stringIn(result?.['message'], 'Status.response.result.message', 'string')
  const converted = response?.['convertedObjects'] ?? []
  if (!Array.isArray(converted)) {
    throw goMismatch(converted, 'ConversionResponse.response.convertedObjects', '[]runtime.RawExtension')
  }
  // v1beta1 checks neither the kind nor the uid of the response.
  if (version === 'v1' && (apiVersion === '' || named === '')) {
    const got = `${apiVersion || '/'}, Kind=${named}`
    throw new CaughtError(`expected webhook response of ${group}/v1, Kind=${kind}, got ${got}`)
  }
  if (!response) throw new CaughtError('no response provided')
  if (version === 'v1' && answered !== uid) {
    throw new CaughtError(`expected response.uid=${goQuote(uid)}, got ${goQuote(answered)}`)
  }
  if (status !== 'Success') {
    throw new CaughtError(message || `response.result.status was '${status}', not 'Success'`)
  }
  return converted
}

function objectIn(value: unknown, field: string, type: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw goMismatch(value, field, type)
  return value as Record<string, unknown>
}

function stringIn(value: unknown, field: string, type: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw goMismatch(value, field, type)
  return value
}
