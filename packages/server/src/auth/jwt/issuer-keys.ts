import { CaughtError, goQuote } from '@kubewright/base'
import type { JWK } from 'jose'
import { type FetchParts, fetchDocument, freshUntil, statusText } from './fetch-document.ts'
import type { JsonWebToken, SigningAlgorithm } from './json-web-token.ts'

/** Keys that expire within this time count as expired. */
const expiryMargin = 30_000
const rememberedTokens = 2000
const wellKnownPath = '/.well-known/openid-configuration'

/** Finds the address of an issuer's keys. Rejects with the texts of go-oidc. */
export async function discoverKeys(parts: FetchParts, issuer: string, discoveryUrl?: string): Promise<string> {
  const url = discoveryUrl || `${issuer.replace(/\/$/, '')}${wellKnownPath}`
  const { status, headers, body } = await fetchDocument(parts, url)
  if (status !== 200) throw new CaughtError(`${statusText(status)}: ${body}`)
  const document = parsedJson(headers['content-type']?.[0] ?? '', body, (why) => {
    throw new CaughtError(`oidc: failed to decode provider discovery object: ${why}`)
  }) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
  if (document.issuer !== issuer) {
    const got = goQuote(typeof document.issuer === 'string' ? document.issuer : '')
    throw new CaughtError(
      `oidc: issuer did not match the issuer returned by provider, expected ${goQuote(issuer)} got ${got}`,
    )
  }
  if (typeof document.jwks_uri !== 'string' || document.jwks_uri === '') {
    throw new CaughtError('provider did not return JWKS URL')
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
  #keys: readonly JWK[] = []
  /** Tokens that one of the keys has signed, oldest first. Verifying a signature takes a tenth of the time of a request. */
  readonly #verified = new Set<string>()
  #freshUntil = 0
  #fetching: Promise<readonly JWK[]> | undefined

  constructor(parts: FetchParts, url: string) {
    this.#parts = parts
    this.#url = url
  }

  /** Verifies the signature of a token. Rejects with the texts of go-oidc. */
  async verify(token: JsonWebToken, algorithm: SigningAlgorithm): Promise<void> {
    if (this.#verified.has(token.text)) return
    const keys = await this.#verify(token, algorithm)
    // Another token may have replaced the keys in the meantime.
    if (keys !== this.#keys) return
    if (this.#verified.size >= rememberedTokens) this.#verified.delete(this.#verified.values().next().value!)
    this.#verified.add(token.text)
  }

  /** Resolves to the keys of which one has signed the token. */
  async #verify(token: JsonWebToken, algorithm: SigningAlgorithm): Promise<readonly JWK[]> {
    const id = typeof token.header['kid'] === 'string' ? token.header['kid'] : ''
    const isSigned = async (keys: readonly JWK[]): Promise<boolean> => {
      for (const key of keys)
        if ((id === '' || key.kid === id) && (await isSignedBy(token, algorithm, key))) return true
      return false
    }
    let keys = this.#keys
    if (await isSigned(keys)) return keys
    const failure = 'failed to verify id token signature'
    if (this.#parts.clock.now() + expiryMargin <= this.#freshUntil) throw new CaughtError(failure)
    try {
      keys = await this.#fetch()
    } catch (error) {
      throw new CaughtError(`fetching keys ${(error as Error).message}`, { cause: error })
    }
    if (!(await isSigned(keys))) throw new CaughtError(failure)
    return keys
  }

  #fetch(): Promise<readonly JWK[]> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<readonly JWK[]> {
    const { status, headers, body } = await fetchDocument(this.#parts, this.#url).catch((error: unknown) => {
      throw new CaughtError(`oidc: get keys failed ${(error as Error).message}`, { cause: error })
    })
    if (status !== 200) throw new CaughtError(`oidc: get keys failed: ${statusText(status)} ${body}`)
    const set = parsedJson(headers['content-type']?.[0] ?? '', body, (why) => {
      throw new CaughtError(`oidc: failed to decode keys: ${why} ${body}`)
    }) as { readonly keys?: unknown }
    this.#verified.clear()
    this.#keys = (Array.isArray(set.keys) ? (set.keys as JWK[]) : []).filter(isObject)
    this.#freshUntil = freshUntil(headers, this.#parts.clock.now())
    return this.#keys
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** Whether the key made the signature. False if the algorithm does not fit the key, or if the key is of an unknown type. */
async function isSignedBy({ text }: JsonWebToken, algorithm: SigningAlgorithm, key: JWK): Promise<boolean> {
  // Loaded with the first token of an issuer: most servers have none.
  const { compactVerify } = await import('jose')
  try {
    await compactVerify(text, key, { algorithms: [algorithm] })
    return true
  } catch {
    return false
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
