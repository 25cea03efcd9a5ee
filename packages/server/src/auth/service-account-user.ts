import { isDNS1123Label, isDNS1123Subdomain } from '@kubewright/base'

const userPrefix = 'system:serviceaccount:'
/** Every service account is a member of this group. */
export const serviceAccountsGroup = 'system:serviceaccounts'

/** A service account by its place. */
export interface ServiceAccountName {
  readonly namespace: string
  readonly name: string
}

/** The user name of a service account. */
export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${userPrefix}${namespace}:${name}`
}

/** The groups that a service account is a member of, besides system:authenticated. */
export function serviceAccountGroups(namespace: string): string[] {
  return [serviceAccountsGroup, `${serviceAccountsGroup}:${namespace}`]
}

/** The service account with this user name; undefined for other users. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(userPrefix)) return undefined
  const [namespace, name, ...rest] = user.slice(userPrefix.length).split(':')
  if (namespace === undefined || name === undefined || rest.length > 0) return undefined
  if (isDNS1123Label(namespace).length > 0 || isDNS1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}
