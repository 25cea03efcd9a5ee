import { CaughtError, type Clock, goQuote } from '@kubewright/base'
import { Claims } from './claims.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type JsonObject, parseJwt, type SigningAlgorithm } from './json-web-token.ts'

/** What an {@link IdTokenVerifier} requires of tokens. */
export interface IdTokenRequirements {
  readonly issuer: string
  /** A token must have one of them. */
  readonly audiences: readonly string[]
  readonly algorithms: readonly SigningAlgorithm[]
  readonly clock: Clock
}

/** Milliseconds of tolerated clock skew of `nbf`. An expired token is never tolerated. */
const leeway = 60_000
const google = 'https://accounts.google.com'

/** Verifies the tokens of one issuer: their audience, times and signature, in the order and with the texts of go-oidc. */
export class IdTokenVerifier {
  readonly #requirements: IdTokenRequirements
  readonly #keys: IssuerKeys

  constructor(requirements: IdTokenRequirements, keys: IssuerKeys) {
    this.#requirements = requirements
    this.#keys = keys
  }

  /** The claims of a valid token. Rejects otherwise. */
  async verify(token: string): Promise<Claims> {
    const parsed = parseJwt(token)
    if (!parsed) throw new CaughtError('oidc: malformed jwt: go-jose/go-jose: compact JWS format must have three parts')
    this.#checkClaims(parsed.claims)
    const { alg } = parsed.header
    const { algorithms } = this.#requirements
    const algorithm = algorithms.find((name) => name === alg)
    if (algorithm === undefined) {
      const got = goQuote(typeof alg === 'string' ? alg : '')
      throw new CaughtError(
        `oidc: id token signed with unsupported algorithm, expected ${quotedList(algorithms)} got ${got}`,
      )
    }
    try {
      await this.#keys.verify(parsed, algorithm)
    } catch (error) {
      throw new CaughtError(`failed to verify signature: ${(error as Error).message}`, { cause: error })
    }
    return new Claims(parsed.claims)
  }

  #checkClaims(json: JsonObject): void {
    const { issuer, audiences, clock } = this.#requirements
    const claims = new Claims(json, 'idToken')
    const [iss, aud, exp, nbf] = readClaims(claims)
    checkSources(json)
    if (iss !== issuer && !(issuer === google && `https://${iss}` === google)) {
      const text = `expected ${goQuote(issuer)} got ${goQuote(iss)}`
      throw new CaughtError(`oidc: id token issued by a different provider, ${text}`)
    }
    if (audiences.length === 1 && !aud.includes(audiences[0]!)) {
      throw new CaughtError(`oidc: expected audience ${goQuote(audiences[0]!)} got ${quotedList(aud)}`)
    }
    const now = clock.now()
    // A token without an expiry is expired.
    if (exp === undefined || exp * 1000 < now) {
      throw new CaughtError(`oidc: token is expired (Token Expiry: ${goTime(exp)})`)
    }
    if (nbf !== undefined && now + leeway < nbf * 1000) {
      throw new CaughtError(`oidc: current time ${goTime(now / 1000)} before the nbf (not before) time: ${goTime(nbf)}`)
    }
    if (!audiences.some((audience) => aud.includes(audience))) {
      throw new CaughtError(`oidc: expected audience in ${quotedList([...audiences].sort())} got ${quotedList(aud)}`)
    }
  }
}

/** Issuer, audiences, expiry and start of a token. */
function readClaims(claims: Claims): [string, string[], number | undefined, number | undefined] {
  try {
    for (const name of ['sub', 'nonce', 'at_hash']) if (claims.has(name)) claims.string(name)
    claims.seconds('iat')
    const iss = claims.has('iss') ? claims.string('iss') : ''
    return [iss, claims.strings('aud', '[]string'), claims.seconds('exp'), claims.seconds('nbf')]
  } catch (error) {
    throw new CaughtError(`oidc: failed to unmarshal claims: ${(error as Error).message}`, { cause: error })
  }
}

/** Every distributed claim must have a source. */
function checkSources({ _claim_names: names, _claim_sources: sources }: JsonObject): void {
  for (const source of Object.values((names ?? {}) as Readonly<Record<string, string>>)) {
    if (source === '') throw new CaughtError('oidc: failed to obtain source from claim name')
    if (!Object.hasOwn(sources ?? {}, source)) throw new CaughtError('oidc: source does not exist')
  }
}

function quotedList(items: readonly string[]): string {
  return `[${items.map(goQuote).join(' ')}]`
}

/** A time as Go prints it, in UTC. */
function goTime(seconds: number | undefined): string {
  if (seconds === undefined) return '0001-01-01 00:00:00 +0000 UTC'
  const text = new Date(seconds * 1000).toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, 19)} +0000 UTC`
}

/** The issuer of a token whose signature is not verified yet, or undefined if the text is not a JWT. */
export function unverifiedIssuer(token: string): string | undefined {
  const iss = parseJwt(token)?.claims['iss']
  if (typeof iss !== 'string') return undefined
  // An older form of this issuer has no scheme.
  return iss === 'accounts.google.com' ? google : iss
}
