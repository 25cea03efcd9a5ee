import { newNotFound } from '@kubewright/api'
import { type Clock, parseRFC3339, type Random, uuid } from '@kubewright/base'
import type { UserInfo } from '../request/user-info.ts'
import { BadCredentials, credentialIdKey, type TokenOwner } from './authenticator.ts'
import { goStringList } from './rbac/policy-rule.ts'
import { ownerOfSecretToken, secretTokenIssuer } from './secret-tokens.ts'
import type { ServiceAccountKeys } from './service-account-keys.ts'
import { serviceAccountGroups, serviceAccountUser } from './service-account-user.ts'

/** Name and uid of an object that a token is bound to. */
export interface BoundReference {
  readonly name: string
  readonly uid?: string | undefined
}

/** The claims of a new token. */
export interface TokenSpec {
  readonly serviceAccount: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly pod?: BoundReference | undefined
  readonly node?: BoundReference | undefined
  readonly secret?: BoundReference | undefined
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** After this many seconds the server warns that the token is stale; it stays valid. */
  readonly warnAfterSeconds?: number | undefined
}

/** The resources that tokens can be bound to. */
export type BoundResource = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes'

/** Finds the newest version of an object that a token is bound to. */
export type BoundObjects = (
  resource: BoundResource,
  namespace: string,
  name: string,
) => Promise<BoundObject | undefined>

/** The fields of a bound object that validation reads. */
export interface BoundObject {
  readonly uid: string
  readonly deletionTimestamp?: string | undefined
  /** The token that a Secret contains. */
  readonly token?: string | undefined
}

/** The claims below the key kubernetes.io. */
interface KubernetesClaims {
  readonly namespace?: string | undefined
  readonly serviceaccount?: BoundReference | undefined
  readonly pod?: BoundReference | undefined
  readonly node?: BoundReference | undefined
  readonly secret?: BoundReference | undefined
  readonly warnafter?: number | undefined
}

/** Milliseconds of tolerated clock skew, and for which tokens of deleted objects stay valid. */
const leewayMillis = 60_000

/** Issues and validates service account tokens (pkg/serviceaccount). */
export class ServiceAccountTokens {
  readonly issuer: string
  /** The default audiences of tokens. */
  readonly audiences: readonly string[]
  readonly keys: ServiceAccountKeys
  readonly #clock: Clock
  readonly #random: Random
  readonly #find: BoundObjects

  constructor(parts: {
    keys: ServiceAccountKeys
    issuer: string
    audiences: readonly string[]
    clock: Clock
    random: Random
    find: BoundObjects
  }) {
    this.keys = parts.keys
    this.issuer = parts.issuer
    this.audiences = parts.audiences
    this.#clock = parts.clock
    this.#random = parts.random
    this.#find = parts.find
  }

  /** Creates a token with a new id. */
  issue(spec: TokenSpec): { readonly token: string; readonly id: string } {
    const { serviceAccount, pod, node, secret, warnAfterSeconds } = spec
    const now = Math.floor(this.#clock.now() / 1000)
    const id = uuid(this.#random)
    const kubernetes: KubernetesClaims = {
      namespace: serviceAccount.namespace,
      ...(node ? { node } : {}),
      ...(pod ? { pod } : {}),
      ...(secret ? { secret } : {}),
      serviceaccount: { name: serviceAccount.name, uid: serviceAccount.uid },
      ...(warnAfterSeconds === undefined ? {} : { warnafter: now + warnAfterSeconds }),
    }
    const token = this.keys.sign({
      aud: spec.audiences,
      exp: now + spec.expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: id,
      'kubernetes.io': kubernetes,
      nbf: now,
      sub: serviceAccountUser(serviceAccount),
    })
    return { token, id }
  }

  /**
   * Determines the user of a token, or undefined when another issuer signed it. Throws {@link BadCredentials} when the token is
   * expired, revoked or for other audiences.
   */
  async ownerOf(token: string, audiences: readonly string[]): Promise<TokenOwner | undefined> {
    // Tokens of other issuers belong to other authenticators, whatever their signature.
    const issuer = unverifiedIssuer(token)
    if (issuer !== this.issuer && issuer !== secretTokenIssuer) return undefined
    const verified = this.keys.verify(token)
    if (verified === undefined) return undefined
    if (typeof verified === 'string') throw new BadCredentials(verified)
    const { claims } = verified
    const own = typeof claims['aud'] === 'string' ? [claims['aud']] : ((claims['aud'] as string[] | undefined) ?? [])
    const tokenAudiences = own.length > 0 ? own : this.audiences
    const common = audiences.filter((audience) => tokenAudiences.includes(audience))
    if (common.length === 0) {
      throw new BadCredentials(
        `token audiences ${goStringList(tokenAudiences)} is invalid for the target audiences ${goStringList(audiences)}`,
      )
    }
    this.#checkTimes(claims)
    const fromSecret = issuer !== this.issuer
    const user = await (fromSecret ? ownerOfSecretToken(token, claims, this.#find) : this.#userOf(claims))
    return { user, audiences: common }
  }

  #checkTimes(claims: Readonly<Record<string, unknown>>): void {
    const now = this.#clock.now()
    const millis = (name: string): number | undefined =>
      typeof claims[name] === 'number' ? claims[name] * 1000 : undefined
    if (now + leewayMillis < (millis('nbf') ?? 0)) throw new BadCredentials('service account token is not valid yet')
    if (now - leewayMillis > (millis('exp') ?? Number.POSITIVE_INFINITY))
      throw new BadCredentials('service account token has expired')
    if (now + leewayMillis < (millis('iat') ?? 0))
      throw new BadCredentials('service account token is issued in the future')
  }

  /** Checks that all objects that the token is bound to still exist. */
  async #userOf(claims: Readonly<Record<string, unknown>>): Promise<UserInfo> {
    const { namespace = '', serviceaccount, pod, node, secret } = (claims['kubernetes.io'] ?? {}) as KubernetesClaims
    const { name = '', uid = '' } = serviceaccount ?? {}
    const account = await this.#find('serviceaccounts', namespace, name)
    if (!account) throw new BadCredentials(newNotFound({ group: '', resource: 'serviceaccounts' }, name).message)
    if (account.uid !== uid)
      throw new BadCredentials(`service account UID (${account.uid}) does not match claim (${uid})`)
    if (this.#isGone(account.deletionTimestamp))
      throw new BadCredentials(`service account ${namespace}/${name} has been deleted`)

    if (secret) await this.#checkBound('secrets', 'secret', namespace, secret)
    if (pod) await this.#checkBound('pods', 'pod', namespace, pod)
    // The node of a pod is informational: the token is bound to the pod only.
    else if (node) await this.#checkBound('nodes', 'node', '', node)

    const extra: Record<string, readonly string[]> = {}
    const key = (what: string): string => `authentication.kubernetes.io/${what}`
    if (pod?.name && pod.uid) {
      extra[key('pod-name')] = [pod.name]
      extra[key('pod-uid')] = [pod.uid]
    }
    if (typeof claims['jti'] === 'string' && claims['jti'] !== '') extra[credentialIdKey] = [`JTI=${claims['jti']}`]
    if (node?.name) {
      extra[key('node-name')] = [node.name]
      if (node.uid) extra[key('node-uid')] = [node.uid]
    }
    return {
      name: serviceAccountUser({ namespace, name }),
      uid,
      groups: serviceAccountGroups(namespace),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    }
  }

  async #checkBound(
    resource: BoundResource,
    kind: string,
    namespace: string,
    reference: BoundReference,
  ): Promise<void> {
    const found = await this.#find(resource, namespace, reference.name)
    if (!found || this.#isGone(found.deletionTimestamp))
      throw new BadCredentials('service account token has been invalidated')
    if (found.uid === (reference.uid ?? '')) return
    throw new BadCredentials(
      `${kind} UID (${found.uid}) does not match service account ${kind} ref claim (${reference.uid ?? ''})`,
    )
  }

  #isGone(deletionTimestamp: string | undefined): boolean {
    if (deletionTimestamp === undefined) return false
    return parseRFC3339(deletionTimestamp).seconds * 1000 < this.#clock.now() - leewayMillis
  }
}

/** The issuer of a token whose signature is not verified yet. */
function unverifiedIssuer(token: string): string | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    return (JSON.parse(Buffer.from(parts[1]!, 'base64url').toString()) as { iss?: string | undefined } | null)?.iss
  } catch {
    return undefined
  }
}
