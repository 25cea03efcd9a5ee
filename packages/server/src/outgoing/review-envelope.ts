import { looksLikeJson, parseJson, parseYaml } from '@kubewright/api'
import { CaughtError, goQuote } from '@kubewright/base'
import { goJsonKind, typeMetaMismatch } from '../codec/json/go-codec.ts'

/** The expected type of a review. */
export interface ReviewType {
  readonly group: string
  readonly kind: string
  /** The version of the review that the webhook received. */
  readonly version: 'v1' | 'v1beta1'
}

/** A review of the expected type, with the type that the response declares. Both texts are empty when it declares none. */
export interface OpenedReview {
  readonly review: Readonly<Record<string, unknown>>
  readonly apiVersion: string
  readonly kind: string
}

/** The scheme of review types, as error texts name it. */
const scheme = 'k8s.io/apiserver/pkg/util/webhook/client.go:71'

/** Kinds of version v1 that are registered in every scheme. */
const unversioned: ReadonlySet<string> = new Set([
  'Status',
  'APIVersions',
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
])

/**
 * Decodes the type of a webhook's response. Throws an Error with the text of apimachinery when the response is not the expected
 * review.
 */
export function openReview(body: Uint8Array, { group, kind, version }: ReviewType): OpenedReview {
  const review = parseReview(body)
  const given = { apiVersion: (review['apiVersion'] ?? '') as string, kind: (review['kind'] ?? '') as string }
  // A response without a type counts as the expected one.
  const apiVersion = given.apiVersion === '' ? `${group}/${version}` : given.apiVersion
  if (apiVersion === 'v1' && unversioned.has(given.kind)) {
    throw new CaughtError(`converting (v1.${given.kind}) to (${version}.${kind}): unknown conversion`)
  }
  const registered = apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`
  if (!registered || (given.kind !== '' && given.kind !== kind)) {
    const name = goQuote(given.kind || kind)
    throw new CaughtError(
      `no kind ${name} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(scheme)}`,
    )
  }
  const found = apiVersion.slice(group.length + 1)
  if (found !== version)
    throw new CaughtError(`converting (${found}.${kind}) to (${version}.${kind}): unknown conversion`)
  return { review, ...given }
}

/** The error of Go's decoder for a value of the wrong type. */
export function goMismatch(value: unknown, field: string, type: string): Error {
  return new CaughtError(`json: cannot unmarshal ${goJsonKind(value)} into Go struct field ${field} of type ${type}`)
}

function parseReview(body: Uint8Array): Record<string, unknown> {
  const text = Buffer.from(body).toString()
  const fail = (why: string): never => {
    throw new CaughtError(`couldn't get version/kind; json parse error: ${why}`)
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
