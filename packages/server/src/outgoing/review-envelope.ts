import { looksLikeJson, parseJson, parseYaml } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { goJsonKind, typeMetaMismatch } from '../codec/json/go-codec.ts'

/** What a review that a webhook answers has to be. */
export interface ReviewType {
  readonly group: string
  readonly kind: string
  /** The version that the webhook was asked in. */
  readonly version: 'v1' | 'v1beta1'
}

/** An answer of the right type, and what it says itself about its type: both are empty when it says nothing. */
export interface OpenedReview {
  readonly review: Readonly<Record<string, unknown>>
  readonly apiVersion: string
  readonly kind: string
}

/** Where the types of reviews are registered, as the texts of errors name it. */
const scheme = 'k8s.io/apiserver/pkg/util/webhook/client.go:71'

/** Reads the answer of a webhook up to its type. Throws an Error in the words of apimachinery when it is no review, or another one. */
export function openReview(body: Uint8Array, { group, kind, version }: ReviewType): OpenedReview {
  const review = parseReview(body)
  const given = { apiVersion: (review['apiVersion'] ?? '') as string, kind: (review['kind'] ?? '') as string }
  // An answer that leaves its type out is taken for the one that was expected.
  const apiVersion = given.apiVersion === '' ? `${group}/${version}` : given.apiVersion
  const registered = apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`
  if (!registered || (given.kind !== '' && given.kind !== kind)) {
    const name = goQuote(given.kind || kind)
    throw new Error(`no kind ${name} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(scheme)}`)
  }
  const found = apiVersion.slice(group.length + 1)
  if (found !== version) throw new Error(`converting (${found}.${kind}) to (${version}.${kind}): unknown conversion`)
  return { review, ...given }
}

/** What Go's decoder says about a value in a place for another type. */
export function goMismatch(value: unknown, field: string, type: string): Error {
  return new Error(`json: cannot unmarshal ${goJsonKind(value)} into Go struct field ${field} of type ${type}`)
}

/** Answers are recognized as JSON, and taken for YAML otherwise. */
function parseReview(body: Uint8Array): Record<string, unknown> {
  const text = Buffer.from(body).toString()
  const fail = (why: string): never => {
    throw new Error(`couldn't get version/kind; json parse error: ${why}`)
  }
  let value: unknown
  try {
    value = looksLikeJson(text) ? parseJson(body) : parseYaml(text)
  } catch (error) {
    return fail((error as Error).message)
  }
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return fail(typeMetaMismatch(value))
  const review = value as Record<string, unknown>
  for (const field of ['apiVersion', 'kind']) {
    if (typeof (review[field] ?? '') !== 'string') fail(goMismatch(review[field], `.${field}`, 'string').message)
  }
  return review
}
