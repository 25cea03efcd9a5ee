import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { goQuote } from '@kubewright/base'
import { type FetchParts, fetchDocument, freshUntil, statusText } from './fetch-document.ts'
import { hasSignatureOf, type JsonWebToken, type SigningAlgorithm } from './json-web-token.ts'

interface IssuerKey {
  readonly id: string
  readonly key: KeyObject
}

/** Keys that expire within this time count as expired. */
const expiryMargin = 30_000
const wellKnownPath = '/.well-known/openid-configuration'

/** Finds the address of an issuer's keys. Rejects with the texts of go-oidc. */
export async function discoverKeys(parts: FetchParts, issuer: string, discoveryUrl?: string): Promise<string> {
  const url = discoveryUrl || `${issuer.replace(/\/$/, '')}${wellKnownPath}`
  const { status, headers, body } = await fetchDocument(parts, url)
  if (status !== 200) throw new Error(`${statusText(status)}: ${body}`)
  const document = parsedJson(headers['content-type']?.[0] ?? '', body, (why) => {
    throw new Error(`oidc: failed to decode provider discovery object: ${why}`)
  }) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
  if (document.issuer !== issuer) {
    const got = goQuote(typeof document.issuer === 'string' ? document.issuer : '')
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ${got}`,
    )
  }
  if (typeof document.jwks_uri !== 'string' || document.jwks_uri === '') {
    throw new Error('provider did not return JWKS URL')
  }
  return document.jwks_uri
}

/**
 * The public keys of an issuer. They are fetched when a token arrives that no known key has signed, unless the last response is still fresh.
 * Concurrent fetches are shared. A token that a known key has signed needs no fetch, so it stays valid while the issuer is not reachable.
 */
export class IssuerKeys {
  readonly #parts: FetchParts
  readonly #url: string
  #keys: readonly IssuerKey[] = []
  #freshUntil = 0
  #fetching: Promise<readonly IssuerKey[]> | undefined

  constructor(parts: FetchParts, url: string) {
    this.#parts = parts
    this.#url = url
  }

  /** Verifies the signature of a token. Rejects with the texts of go-oidc. */
  async verify(token: JsonWebToken, algorithm: SigningAlgorithm): Promise<void> {
    const id = typeof token.header['kid'] === 'string' ? token.header['kid'] : ''
    const isSigned = (keys: readonly IssuerKey[]): boolean =>
      keys.some((key) => (id === '' || key.id === id) && hasSignatureOf(token, algorithm, key.key))
    if (isSigned(this.#keys)) return
    const failure = 'failed to verify id token signature'
    if (this.#parts.clock.now() + expiryMargin <= this.#freshUntil) throw new Error(failure)
    let keys: readonly IssuerKey[]
    try {
      keys = await this.#fetch()
    } catch (error) {
      throw new Error(`fetching keys ${(error as Error).message}`, { cause: error })
    }
    if (!isSigned(keys)) throw new Error(failure)
  }

  #fetch(): Promise<readonly IssuerKey[]> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<readonly IssuerKey[]> {
    const { status, headers, body } = await fetchDocument(this.#parts, this.#url).catch((error: unknown) => {
      throw new Error(`oidc: get keys failed ${(error as Error).message}`, { cause: error })
    })
    if (status !== 200) throw new Error(`oidc: get keys failed: ${statusText(status)} ${body}`)
    const set = parsedJson(headers['content-type']?.[0] ?? '', body, (why) => {
      throw new Error(`oidc: failed to decode keys: ${why} ${body}`)
    }) as { readonly keys?: unknown }
    this.#keys = (Array.isArray(set.keys) ? set.keys : []).flatMap(publicKeyOf)
    this.#freshUntil = freshUntil(headers, this.#parts.clock.now())
    return this.#keys
  }
}

/** One key of a set, or none: a set may contain keys of types that this server does not support. */
function publicKeyOf(jwk: unknown): IssuerKey[] {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const { kid } = jwk as { readonly kid?: unknown }
    return [{ id: typeof kid === 'string' ? kid : '', key }]
  } catch {
    return []
  }
}

function parsedJson(contentType: string, body: string, fail: (why: string) => never): object {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return value
    return {}
  } catch (error) {
    const { message } = error as Error
    const isJson = contentType.split(';')[0]!.trim().toLowerCase() === 'application/json'
    return fail(
      isJson
        ? `got Content-Type = application/json, but could not unmarshal as JSON: ${message}`
        : `expected Content-Type = application/json, got ${goQuote(contentType)}: ${message}`,
    )
  }
}
