import { newNotFound } from '@kubewright/api'
import { type Clock, parseRFC3339, type Random, uuid } from '@kubewright/base'
import type { UserInfo } from '../request/user-info.ts'
import { BadCredentials, credentialIdKey, type TokenOwner } from './authenticator.ts'
import { goStringList } from './rbac/policy-rule.ts'
import { ownerOfSecretToken, secretTokenIssuer } from './secret-tokens.ts'
import type { ServiceAccountKeys } from './service-account-keys.ts'
import { serviceAccountGroups, serviceAccountUser } from './service-account-user.ts'

/** Name and uid of an object that a token depends on. */
export interface BoundReference {
  readonly name: string
  readonly uid?: string
}

/** What a new token is to say. */
export interface TokenWish {
  readonly serviceAccount: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly pod?: BoundReference
  readonly node?: BoundReference
  readonly secret?: BoundReference
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** The token counts as stale after so many seconds; it still works. */
  readonly warnAfterSeconds?: number
}

/** The kinds of objects that tokens are bound to. */
export type BoundResource = 'serviceaccounts' | 'secrets' | 'pods' | 'nodes'

/** Finds an object that a token is bound to, in its newest version; undefined when it does not exist. */
export type BoundObjects = (
  resource: BoundResource,
  namespace: string,
  name: string,
) => Promise<BoundObject | undefined>

/** What tokens need to know of an object that they are bound to. */
export interface BoundObject {
  readonly uid: string
  readonly deletionTimestamp?: string | undefined
  /** The token that a Secret holds. */
  readonly token?: string | undefined
}

/** The claims of kubernetes.io. */
interface KubernetesClaims {
  readonly namespace?: string
  readonly serviceaccount?: BoundReference
  readonly pod?: BoundReference
  readonly node?: BoundReference
  readonly secret?: BoundReference
  readonly warnafter?: number
}

/** Clocks may differ by so much, and objects that are being deleted live on for so long. */
const leewayMillis = 60_000

/** Issues and accepts the tokens of service accounts (pkg/serviceaccount). */
export class ServiceAccountTokens {
  readonly issuer: string
  /** What tokens are good for when nobody says otherwise. */
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

  /** A new token and its id. */
  issue(wish: TokenWish): { readonly token: string; readonly id: string } {
    const { serviceAccount, pod, node, secret, warnAfterSeconds } = wish
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
      aud: wish.audiences,
      exp: now + wish.expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: id,
      'kubernetes.io': kubernetes,
      nbf: now,
      sub: serviceAccountUser(serviceAccount),
    })
    return { token, id }
  }

  /** Whose token it is; undefined when it is none of ours. Throws {@link BadCredentials} when it is no longer or not here good. */
  async ownerOf(token: string, audiences: readonly string[]): Promise<TokenOwner | undefined> {
    // Tokens of another issuer are somebody else's, whatever their signature.
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

  /** Checks that everything the token is bound to still exists. */
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
    // The node of a pod is told for information; the token lives as long as the pod.
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

/** The issuer that a token names, before anything about it is checked. */
function unverifiedIssuer(token: string): string | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    return (JSON.parse(Buffer.from(parts[1]!, 'base64url').toString()) as { iss?: string } | null)?.iss
  } catch {
    return undefined
  }
}
