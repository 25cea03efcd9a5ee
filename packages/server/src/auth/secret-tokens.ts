import { timingSafeEqual } from 'node:crypto'
import { newNotFound } from '@kubewright/api'
import type { UserInfo } from '../request/user-info.ts'
import { BadCredentials } from './authenticator.ts'
import type { BoundObjects } from './service-account-tokens.ts'
import { serviceAccountGroups, serviceAccountUser } from './service-account-user.ts'

/** The issuer of secret-based tokens, which never expire. */
export const secretTokenIssuer = 'kubernetes/serviceaccount'

/**
 * Determines the user of a token from a Secret of type kubernetes.io/service-account-token. Throws {@link BadCredentials} when it
 * is invalid.
 */
export async function ownerOfSecretToken(
  token: string,
  claims: Readonly<Record<string, unknown>>,
  find: BoundObjects,
): Promise<UserInfo> {
  const take = (claim: string, called: string): string => {
    const value = claims[claim]
    if (typeof value === 'string' && value !== '') return value
    throw new BadCredentials(`${called} claim is missing`)
  }
  const subject = take('sub', 'sub')
  const namespace = take('kubernetes.io/serviceaccount/namespace', 'namespace')
  const secretName = take('kubernetes.io/serviceaccount/secret.name', 'secretName')
  const name = take('kubernetes.io/serviceaccount/service-account.name', 'serviceAccountName')
  const uid = take('kubernetes.io/serviceaccount/service-account.uid', 'serviceAccountUID')
  const user = serviceAccountUser({ namespace, name })
  if (subject !== user) throw new BadCredentials('sub claim is invalid')
  const secret = await find('secrets', namespace, secretName)
  if (!secret || secret.deletionTimestamp !== undefined) throw new BadCredentials('Token has been invalidated')
  if (!isSame(secret.token ?? '', token)) throw new BadCredentials("Token does not match server's copy")
  const account = await find('serviceaccounts', namespace, name)
  if (!account) throw new BadCredentials(newNotFound({ group: '', resource: 'serviceaccounts' }, name).message)
  if (account.deletionTimestamp !== undefined) {
    throw new BadCredentials(`ServiceAccount ${namespace}/${name} has been deleted`)
  }
  if (account.uid !== uid) {
    throw new BadCredentials(`ServiceAccount UID (${account.uid}) does not match claim (${uid})`)
  }
  return { name: user, uid, groups: serviceAccountGroups(namespace) }
}

/** Compares a secret in constant time. */
export function isSame(kept: string, shown: string): boolean {
  const [a, b] = [Buffer.from(kept), Buffer.from(shown)]
  return a.length === b.length && timingSafeEqual(a, b)
}
