import { CaughtError, goQuote } from '@kubewright/base'
import type { Claims } from './claims.ts'
import { type FetchParts, fetchDocument, statusText } from './fetch-document.ts'
import { type IdTokenRequirements, IdTokenVerifier, unverifiedIssuer } from './id-token-verifier.ts'
import { discoverKeys, IssuerKeys } from './issuer-keys.ts'

/** The most issuers of distributed claims that keys are kept of. A token of another issuer replaces the oldest one. */
const maxIssuers = 100

/**
 * Resolves the groups of a token that are at another address, because there are too many of them for the token (OpenID Connect Core 1.0,
 * section 5.6.2). Error texts are those of kube-apiserver.
 */
export class DistributedClaims {
  readonly #parts: FetchParts
  readonly #requirements: Omit<IdTokenRequirements, 'issuer'>
  readonly #verifiers = new Map<string, Promise<IdTokenVerifier>>()

  constructor(parts: FetchParts, requirements: Omit<IdTokenRequirements, 'issuer'>) {
    this.#parts = parts
    this.#requirements = requirements
  }

  /** The value of the claim, or undefined if the token has no reference to it. The caller has verified the token. */
  async resolve(claims: Claims, name: string): Promise<unknown> {
    if (claims.has(name) || !claims.has('_claim_names')) return undefined
    const names = claims.json['_claim_names'] as Readonly<Record<string, string>> | null
    if (!claims.has('_claim_sources')) throw new CaughtError('oidc: no claim sources')
    const sources = claims.json['_claim_sources'] as Readonly<Record<string, Source | undefined>> | null
    if (!names || !Object.hasOwn(names, name)) return undefined
    const source = names[name]!
    const found = sources && Object.hasOwn(sources, source) ? sources[source] : undefined
    if (!found) throw new CaughtError(`id token _claim_names contained a source ${source} missing in _claims_sources`)
    return found.endpoint ? this.#fetch(found.endpoint, found.access_token, name) : undefined
  }

  async #fetch(endpoint: string, accessToken: string | undefined, name: string): Promise<unknown> {
    const jwt = await this.#get(endpoint, accessToken).catch((error: unknown) => {
      throw new CaughtError(`while getting distributed claim ${goQuote(name)}: ${(error as Error).message}`, {
        cause: error,
      })
    })
    const issuer = unverifiedIssuer(jwt)
    if (issuer === undefined) {
      throw new CaughtError(
        `getting untrusted issuer from endpoint ${endpoint} failed for claim ${goQuote(name)}: malformed token`,
      )
    }
    const verifier = await this.#verifierOf(issuer).catch((error: unknown) => {
      const why = `verifier not initialized for issuer: ${goQuote(issuer)}`
      throw new CaughtError(`verifying untrusted issuer ${issuer} failed: ${why}`, { cause: error })
    })
    const claims = await verifier.verify(jwt).catch((error: unknown) => {
      throw new CaughtError(`verify distributed claim token: ${(error as Error).message}`, { cause: error })
    })
    if (claims.has(name)) return claims.json[name]
    throw new CaughtError(
      `jwt returned by distributed claim endpoint ${goQuote(endpoint)} did not contain claim: ${name}`,
    )
  }

  async #get(endpoint: string, accessToken: string | undefined): Promise<string> {
    const headers: Record<string, string> = accessToken ? { authorization: `Bearer ${accessToken}` } : {}
    const { status, body } = await fetchDocument(this.#parts, endpoint, headers)
    if (status < 200 || status > 226)
      throw new CaughtError(`error while getting distributed claim JWT: ${statusText(status)}`)
    return body
  }

  #verifierOf(issuer: string): Promise<IdTokenVerifier> {
    let verifier = this.#verifiers.get(issuer)
    if (!verifier) {
      verifier = discoverKeys(this.#parts, issuer).then(
        (url) => new IdTokenVerifier({ ...this.#requirements, issuer }, new IssuerKeys(this.#parts, url)),
      )
      if (this.#verifiers.size >= maxIssuers) this.#verifiers.delete(this.#verifiers.keys().next().value!)
      this.#verifiers.set(issuer, verifier)
      // The next token tries again.
      verifier.catch(() => this.#verifiers.delete(issuer))
    }
    return verifier
  }
}

interface Source {
  readonly endpoint?: string | undefined
  readonly access_token?: string | undefined
}
