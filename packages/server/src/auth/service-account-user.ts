import { isDNS1123Label, isDNS1123Subdomain } from '@kubewright/base'

const userPrefix = 'system:serviceaccount:'
/** The group of all service accounts. */
export const serviceAccountsGroup = 'system:serviceaccounts'

/** Namespace and name of a service account. */
export interface ServiceAccountName {
  readonly namespace: string
  readonly name: string
}

/** The user name of a service account. */
export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${userPrefix}${namespace}:${name}`
}

/** The groups of a service account, without system:authenticated. */
export function serviceAccountGroups(namespace: string): string[] {
  return [serviceAccountsGroup, `${serviceAccountsGroup}:${namespace}`]
}

/** The service account of a user name, or undefined for other users. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(userPrefix)) return undefined
  const [namespace, name, ...rest] = user.slice(userPrefix.length).split(':')
  if (namespace === undefined || name === undefined || rest.length > 0) return undefined
  if (isDNS1123Label(namespace).length > 0 || isDNS1123Subdomain(name).length > 0) return undefined
  return { namespace, name }
}
