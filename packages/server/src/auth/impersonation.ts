import { type ApiRequest, newBadRequest } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import type { UserInfo } from '../request/user-info.ts'
import { authenticatedGroup, unauthenticatedGroup } from '../request/user-info.ts'
import { anonymousUser } from './authenticator.ts'
import { type Authorizer, resourceAttributes } from './authorizer.ts'
import { forbiddenError } from './forbidden-error.ts'
import { decodedKey } from './request-header.ts'
import { serviceAccountGroups, serviceAccountOf, serviceAccountUser } from './service-account-user.ts'

const userHeader = 'impersonate-user'
const groupHeader = 'impersonate-group'
const uidHeader = 'impersonate-uid'
const extraPrefix = 'impersonate-extra-'
const authenticationVersion = 'authentication.k8s.io/v1'

/** One identity that the client wants to assume; each needs the verb impersonate. */
interface Identity {
  readonly kind: 'User' | 'ServiceAccount' | 'Group' | 'UserExtra' | 'UID'
  readonly name: string
  readonly namespace?: string | undefined
  /** The key of an extra. */
  readonly key?: string | undefined
}

/**
 * The user to handle the request as: the one of the impersonation headers, if the client may impersonate all parts of it, or the
 * client itself. As in apiserver/pkg/endpoints/filters/impersonation, the given groups replace all groups except
 * system:authenticated.
 */
export function impersonate(request: ApiRequest, user: UserInfo, authorizer: Authorizer): Awaitable<UserInfo> {
  const headers = impersonationHeaders(request)
  if (!headers) return user
  const identities = identitiesOf(headers)
  return identities.length === 0 ? user : assume(identities, user, authorizer)
}

/** The user with these identities, if the client may impersonate all of them. */
async function assume(identities: readonly Identity[], user: UserInfo, authorizer: Authorizer): Promise<UserInfo> {
  for (const identity of identities) {
    const attributes = resourceAttributes(user, { verb: 'impersonate', ...resourceOf(identity) })
    const decision = await authorizer.authorize(attributes)
    if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
  }
  return userOf(identities)
}

/** The values of each impersonation header, in order; undefined without any, as in most requests. */
function impersonationHeaders({ headers, rawHeaders }: ApiRequest): Map<string, string[]> | undefined {
  let found: Map<string, string[]> | undefined
  if (rawHeaders) {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase()
      if (!isImpersonation(name)) continue
      const values = (found ??= new Map()).get(name)
      if (values) values.push(rawHeaders[i + 1]!)
      else found.set(name, [rawHeaders[i + 1]!])
    }
    return found
  }
  for (const [name, value] of Object.entries(headers))
    if (isImpersonation(name) && value !== undefined) (found ??= new Map()).set(name, [value])
  return found
}

function isImpersonation(name: string): boolean {
  return name.startsWith('impersonate-') && (isIdentityHeader(name) || name.startsWith(extraPrefix))
}

function isIdentityHeader(name: string): boolean {
  return name === userHeader || name === groupHeader || name === uidHeader
}

function identitiesOf(headers: ReadonlyMap<string, readonly string[]>): Identity[] {
  const identities: Identity[] = []
  const user = headers.get(userHeader)?.[0] ?? ''
  if (user !== '') {
    const account = serviceAccountOf(user)
    identities.push(account ? { kind: 'ServiceAccount', ...account } : { kind: 'User', name: user })
  }
  for (const name of headers.get(groupHeader) ?? []) identities.push({ kind: 'Group', name })
  for (const [header, values] of headers) {
    if (!header.startsWith(extraPrefix)) continue
    const key = decodedKey(header.slice(extraPrefix.length))
    for (const name of values) identities.push({ kind: 'UserExtra', name, key })
  }
  const uid = headers.get(uidHeader)?.[0] ?? ''
  if (uid !== '') identities.push({ kind: 'UID', name: uid })

  if (identities.length > 0 && user === '') {
    throw newBadRequest(`requested [${identities.map(printed).join(' ')}] without impersonating a user`)
  }
  return identities
}

/** Prints an identity as Go prints an ObjectReference: kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath. */
function printed({ kind, name, namespace = '', key = '' }: Identity): string {
  const version = kind === 'UserExtra' || kind === 'UID' ? authenticationVersion : ''
  return `{${kind} ${namespace} ${name}  ${version}  ${key}}`
}

/** The resource that the client must be allowed to impersonate. */
function resourceOf({ kind, name, namespace = '', key = '' }: Identity): {
  group: string
  version: string
  resource: string
  subresource: string
  namespace: string
  name: string
} {
  const core = { group: '', version: '', subresource: '', namespace, name }
  const authentication = { group: 'authentication.k8s.io', version: 'v1', subresource: key, namespace, name }
  switch (kind) {
    case 'User':
      return { ...core, resource: 'users' }
    case 'ServiceAccount':
      return { ...core, resource: 'serviceaccounts' }
    case 'Group':
      return { ...core, resource: 'groups' }
    case 'UserExtra':
      return { ...authentication, resource: 'userextras' }
    case 'UID':
      return { ...authentication, resource: 'uids' }
  }
}

function userOf(identities: readonly Identity[]): UserInfo {
  let name = ''
  let uid: string | undefined
  let groups: string[] = []
  const extra: Record<string, string[]> = {}
  for (const identity of identities) {
    if (identity.kind === 'User') name = identity.name
    else if (identity.kind === 'UID') uid = identity.name
    else if (identity.kind === 'Group') groups.push(identity.name)
    else if (identity.kind === 'UserExtra') {
      if (Object.hasOwn(extra, identity.key!)) extra[identity.key!]!.push(identity.name)
      else
        Object.defineProperty(extra, identity.key!, {
          value: [identity.name],
          enumerable: true,
          writable: true,
          configurable: true,
        })
    } else {
      name = serviceAccountUser({ namespace: identity.namespace!, name: identity.name })
      // Service accounts have the groups of their namespace unless the client names groups.
      if (!identities.some(({ kind }) => kind === 'Group')) groups = serviceAccountGroups(identity.namespace!)
    }
  }
  const anonymous = name === anonymousUser.name
  if (anonymous && !groups.includes(unauthenticatedGroup)) groups.push(unauthenticatedGroup)
  if (!anonymous && !groups.includes(authenticatedGroup) && !groups.includes(unauthenticatedGroup))
    groups.push(authenticatedGroup)
  return {
    name,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
