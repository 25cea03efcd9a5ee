import { newBadRequest } from '@kubewright/api'
import type { ApiRequest } from '../request/api-request.ts'
import type { UserInfo } from '../request/user-info.ts'
import { authenticatedGroup, unauthenticatedGroup } from '../request/user-info.ts'
import { anonymousUser } from './authenticator.ts'
import { type Authorizer, resourceAttributes } from './authorizer.ts'
import { forbiddenError } from './forbidden-error.ts'
import { serviceAccountGroups, serviceAccountOf, serviceAccountUser } from './service-account-user.ts'

const userHeader = 'impersonate-user'
const groupHeader = 'impersonate-group'
const uidHeader = 'impersonate-uid'
const extraPrefix = 'impersonate-extra-'
const authenticationVersion = 'authentication.k8s.io/v1'

/** One thing that the client wants to be; each needs the verb impersonate. */
interface Wish {
  readonly kind: 'User' | 'ServiceAccount' | 'Group' | 'UserExtra' | 'UID'
  readonly name: string
  readonly namespace?: string
  /** The key of an extra. */
  readonly key?: string
}

/**
 * The user that a request is to be handled as: the one that impersonation headers ask for, when the client may be all of it, else the
 * client itself. As apiserver/pkg/endpoints/filters/impersonation: groups that are given are the whole truth, apart from
 * system:authenticated.
 */
export async function impersonate(request: ApiRequest, user: UserInfo, authorizer: Authorizer): Promise<UserInfo> {
  const headers = impersonationHeaders(request)
  if (headers.size === 0) return user
  const wishes = wishesOf(headers)
  if (wishes.length === 0) return user

  for (const wish of wishes) {
    const attributes = resourceAttributes(user, { verb: 'impersonate', ...aboutOf(wish) })
    const decision = await authorizer.authorize(attributes)
    if (!decision.allowed) throw forbiddenError(attributes, decision.reason)
  }
  return userOf(wishes)
}

/** The values of each header that matters, in order; a header that was sent twice has two. */
function impersonationHeaders({ headers, rawHeaders }: ApiRequest): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const matters = (name: string): boolean =>
    name === userHeader || name === groupHeader || name === uidHeader || name.startsWith(extraPrefix)
  if (rawHeaders) {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase()
      if (!matters(name)) continue
      const values = found.get(name)
      if (values) values.push(rawHeaders[i + 1]!)
      else found.set(name, [rawHeaders[i + 1]!])
    }
    return found
  }
  for (const [name, value] of Object.entries(headers))
    if (matters(name) && value !== undefined) found.set(name, [value])
  return found
}

function wishesOf(headers: ReadonlyMap<string, readonly string[]>): Wish[] {
  const wishes: Wish[] = []
  const user = headers.get(userHeader)?.[0] ?? ''
  if (user !== '') {
    const account = serviceAccountOf(user)
    wishes.push(account ? { kind: 'ServiceAccount', ...account } : { kind: 'User', name: user })
  }
  for (const name of headers.get(groupHeader) ?? []) wishes.push({ kind: 'Group', name })
  for (const [header, values] of headers) {
    if (!header.startsWith(extraPrefix)) continue
    const key = decodedKey(header.slice(extraPrefix.length))
    for (const name of values) wishes.push({ kind: 'UserExtra', name, key })
  }
  const uid = headers.get(uidHeader)?.[0] ?? ''
  if (uid !== '') wishes.push({ kind: 'UID', name: uid })

  if (wishes.length > 0 && user === '') {
    throw newBadRequest(`requested [${wishes.map(printed).join(' ')}] without impersonating a user`)
  }
  return wishes
}

/** Keys that are not valid in headers are percent-encoded; one that is badly encoded is taken as it is. */
function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** As Go prints an ObjectReference: kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath. */
function printed({ kind, name, namespace = '', key = '' }: Wish): string {
  const version = kind === 'UserExtra' || kind === 'UID' ? authenticationVersion : ''
  return `{${kind} ${namespace} ${name}  ${version}  ${key}}`
}

/** The resource that the client must be allowed to impersonate. */
function aboutOf({ kind, name, namespace = '', key = '' }: Wish): {
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

function userOf(wishes: readonly Wish[]): UserInfo {
  let name = ''
  let uid: string | undefined
  let groups: string[] = []
  const extra: Record<string, string[]> = {}
  for (const wish of wishes) {
    if (wish.kind === 'User') name = wish.name
    else if (wish.kind === 'UID') uid = wish.name
    else if (wish.kind === 'Group') groups.push(wish.name)
    else if (wish.kind === 'UserExtra') {
      if (Object.hasOwn(extra, wish.key!)) extra[wish.key!]!.push(wish.name)
      else
        Object.defineProperty(extra, wish.key!, {
          value: [wish.name],
          enumerable: true,
          writable: true,
          configurable: true,
        })
    } else {
      name = serviceAccountUser({ namespace: wish.namespace!, name: wish.name })
      // The groups of a service account follow from its namespace, unless the client says otherwise.
      if (!wishes.some(({ kind }) => kind === 'Group')) groups = serviceAccountGroups(wish.namespace!)
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
