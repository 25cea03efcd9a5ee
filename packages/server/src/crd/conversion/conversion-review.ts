import { encodeJson, looksLikeJson, parseJson, parseYaml } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { goJsonKind, typeMetaMismatch } from '../../builtins/go-codec.ts'
import type { MutableObject } from '../../registry/resource.ts'

/** The versions of ConversionReview. */
export type ConversionReviewVersion = 'v1' | 'v1beta1'

const group = 'apiextensions.k8s.io'
const kind = 'ConversionReview'
const scheme = 'k8s.io/apiserver/pkg/util/webhook/client.go:71'

/** A webhook answered a review with something that is none, or that does not answer the question. */
export class InvalidConversionReview extends Error {
  override readonly name = 'InvalidConversionReview'
}

/** The first version of those that a definition accepts, in its order, that is known. */
export function reviewVersionOf(accepted: readonly string[]): ConversionReviewVersion {
  for (const version of accepted) if (version === 'v1' || version === 'v1beta1') return version
  throw new Error('no supported conversion review versions')
}

/** The question to a webhook, byte for byte as kube-apiserver asks it: with an empty response. */
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

/** The converted objects in an answer, of which nothing else has been checked. Throws {@link InvalidConversionReview}. */
export function decodeConversionReview(body: Uint8Array, version: ConversionReviewVersion, uid: string): unknown[] {
  const review = parseReview(body)
  const got = checkType(review, version)
  const response = objectIn(review['response'], `${kind}.response`, `${version}.ConversionResponse`)
  const answered = stringIn(response?.['uid'], 'ConversionResponse.response.uid', 'types.UID')
  const result = objectIn(response?.['result'], 'ConversionResponse.response.result', 'v1.Status')
  const status = stringIn(result?.['status'], 'Status.response.result.status', 'string')
  const message = stringIn(result?.['message'], 'Status.response.result.message', 'string')
  const converted = response?.['convertedObjects'] ?? []
  if (!Array.isArray(converted)) {
    throw mismatch(converted, 'ConversionResponse.response.convertedObjects', '[]runtime.RawExtension')
  }
  // Version v1beta1 never looked at what it was an answer to.
  if (version === 'v1' && got !== `${group}/v1, Kind=${kind}`) {
    throw new InvalidConversionReview(`expected webhook response of ${group}/v1, Kind=${kind}, got ${got}`)
  }
  if (!response) throw new InvalidConversionReview('no response provided')
  if (version === 'v1' && answered !== uid) {
    throw new InvalidConversionReview(`expected response.uid=${goQuote(uid)}, got ${goQuote(answered)}`)
  }
  if (status !== 'Success') {
    throw new InvalidConversionReview(message || `response.result.status was '${status}', not 'Success'`)
  }
  return converted
}

/** Answers are recognized as JSON, and taken for YAML otherwise. */
function parseReview(body: Uint8Array): Record<string, unknown> {
  const text = Buffer.from(body).toString()
  let value: unknown
  try {
    value = looksLikeJson(text) ? parseJson(body) : parseYaml(text)
  } catch (error) {
    throw new InvalidConversionReview(`couldn't get version/kind; json parse error: ${(error as Error).message}`)
  }
  const problem = value === null ? undefined : typeMetaMismatch(value)
  if (problem !== undefined) {
    throw new InvalidConversionReview(`couldn't get version/kind; json parse error: ${problem}`)
  }
  return (value ?? {}) as Record<string, unknown>
}

/** Refuses what is not registered; an answer that leaves its type out is taken for the one that was expected. */
function checkType(review: Record<string, unknown>, wanted: ConversionReviewVersion): string {
  const givenKind = (review['kind'] ?? '') as string
  const apiVersion = (review['apiVersion'] ?? '') as string
  const known = apiVersion === '' ? `${group}/${wanted}` : apiVersion
  const registered = known === `${group}/v1` || known === `${group}/v1beta1`
  if (!registered || (givenKind !== '' && givenKind !== kind)) {
    const name = goQuote(givenKind || kind)
    throw new InvalidConversionReview(
      `no kind ${name} is registered for version ${goQuote(known)} in scheme ${goQuote(scheme)}`,
    )
  }
  const version = known.slice(group.length + 1)
  if (version !== wanted) {
    throw new InvalidConversionReview(`converting (${version}.${kind}) to (${wanted}.${kind}): unknown conversion`)
  }
  return `${apiVersion === '' ? '/' : apiVersion}, Kind=${givenKind}`
}

function objectIn(value: unknown, field: string, type: string): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw mismatch(value, field, type)
  return value as Record<string, unknown>
}

function stringIn(value: unknown, field: string, type: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw mismatch(value, field, type)
  return value
}

function mismatch(value: unknown, field: string, type: string): InvalidConversionReview {
  const text = `json: cannot unmarshal ${goJsonKind(value)} into Go struct field ${field} of type ${type}`
  return new InvalidConversionReview(text)
}
