import { CaughtError, type Clock, goQuote, type Logger } from '@kubewright/base'
import type { JwtAuthenticatorConfig } from '../../config/authentication-config.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { Claims } from './claims.ts'
import { DistributedClaims } from './distributed-claims.ts'
import type { FetchParts } from './fetch-document.ts'
import { IdTokenVerifier, unverifiedIssuer } from './id-token-verifier.ts'
import { discoverKeys, IssuerKeys } from './issuer-keys.ts'
import type { SigningAlgorithm } from './json-web-token.ts'
import { userOfClaims } from './user-of-claims.ts'

/** The parts that {@link JwtAuthenticator} uses. */
export interface JwtAuthenticatorParts {
  readonly outgoing: Outgoing
  readonly clock: Clock
  readonly log: Logger
  /** The accepted signature algorithms. */
  readonly algorithms: readonly SigningAlgorithm[]
  /** Ends the use of the authenticator. */
  readonly signal: AbortSignal
}

/** How often the discovery of an issuer is retried. */
const retryPeriod = 10_000

/**
 * Authenticates the tokens of one issuer. The discovery document is read in the background, so that the server starts while the issuer is not
 * reachable, or when the issuer runs in the cluster itself. Until then, all tokens of the issuer are refused.
 */
export class JwtAuthenticator {
  readonly #config: JwtAuthenticatorConfig
  readonly #distributed: DistributedClaims | undefined
  #verifier: IdTokenVerifier | undefined
  #problem: string
  /** Resolves when the authenticator can verify tokens, or when it has been stopped. */
  readonly ready: Promise<void>

  constructor(config: JwtAuthenticatorConfig, { outgoing, clock, log, algorithms, signal }: JwtAuthenticatorParts) {
    const { url, discoveryUrl, certificateAuthority, audiences, egressSelectorType } = config.issuer
    if (egressSelectorType !== '') {
      throw new CaughtError(`oidc: egress lookup required with egress selector type ${goQuote(egressSelectorType)}`)
    }
    this.#config = config
    this.#problem = `oidc: authenticator for issuer ${goQuote(url)} is not initialized`
    const fetchParts: FetchParts = { outgoing, clock, signal, ca: certificateAuthority || undefined }
    const requirements = { audiences, algorithms, clock }
    if (config.groups?.claim !== undefined) this.#distributed = new DistributedClaims(fetchParts, requirements)
    const discover = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          const keysUrl = await discoverKeys(fetchParts, url, discoveryUrl)
          this.#verifier = new IdTokenVerifier({ ...requirements, issuer: url }, new IssuerKeys(fetchParts, keysUrl))
          return
        } catch (error) {
          if (signal.aborted) return
          this.#problem = (error as Error).message
          log.error(error, 'Discovery of a token issuer failed; retrying', { issuer: url, after: '10s' })
        }
        await clock.sleep(retryPeriod, { signal }).catch(() => undefined)
      }
    }
    this.ready = discover()
  }

  /** The reason why tokens cannot be verified yet, or undefined. */
  get problem(): string | undefined {
    if (this.#verifier) return undefined
    return `oidc: authenticator for issuer ${goQuote(this.#config.issuer.url)} is not healthy: ${this.#problem}`
  }

  /** The user of a token, or undefined for tokens of other issuers. Rejects for a token of the issuer that is not valid. */
  async userOf(token: string): Promise<UserInfo | undefined> {
    if (unverifiedIssuer(token) !== this.#config.issuer.url) return undefined
    if (!this.#verifier) throw new CaughtError('oidc: authenticator not initialized')
    let claims: Claims
    try {
      claims = await this.#verifier.verify(token)
    } catch (error) {
      throw new CaughtError(`oidc: verify token: ${(error as Error).message}`, { cause: error })
    }
    return userOfClaims(this.#config, await this.#expanded(claims))
  }

  async #expanded(claims: Claims): Promise<Claims> {
    const name = this.#config.groups?.claim
    if (!this.#distributed || name === undefined) return claims
    try {
      const value = await this.#distributed.resolve(claims, name)
      return value === undefined ? claims : new Claims({ ...claims.json, [name]: value })
    } catch (error) {
      throw new CaughtError(`oidc: could not expand distributed claims: ${(error as Error).message}`, { cause: error })
    }
  }
}
