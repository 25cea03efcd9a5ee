import { parseFieldSelector } from '@kubewright/api'
import { type Awaitable, isPathSegmentName } from '@kubewright/base'
import type { RequestInfo } from '../request/request-info.ts'
import type { UserInfo } from '../request/user-info.ts'

/** A user and the action to authorize. */
export interface AuthorizationAttributes {
  readonly user: UserInfo
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** The path of requests that name no resource. */
  readonly path: string
  /** The value that the field selector of a list, watch or deletecollection requires of a field. @default no field is selected */
  readonly selectedValue?: ((field: string) => string | undefined) | undefined
  /** The selectors of a list, watch or deletecollection, as sent. @default none */
  readonly selectors?: { readonly fields: string; readonly labels: string } | undefined
}

/** The result of authorization. A request that is not allowed may carry a reason. */
export interface Decision {
  readonly allowed: boolean
  /** Whether the request is refused whatever other authorizers decide. @default false */
  readonly denied?: boolean | undefined
  readonly reason: string
  /** The failure of an authorizer that therefore could not decide. @default none */
  readonly error?: string | undefined
}

/** The rules that apply to a user, as SelfSubjectRulesReview lists them. */
export interface ResolvedRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[]
    readonly apiGroups?: readonly string[] | undefined
    readonly resources?: readonly string[] | undefined
    readonly resourceNames?: readonly string[] | undefined
  }[]
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[]
    readonly nonResourceURLs?: readonly string[] | undefined
  }[]
  /** Whether the authorizer may allow more than these rules. */
  readonly incomplete: boolean
  /** Errors of the lookup, or the empty string. */
  readonly evaluationError: string
}

/** Decides whether users may perform actions. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Awaitable<Decision>
  /** The rules of a user in a namespace. @default none, and incomplete */
  rulesFor?(user: UserInfo, namespace: string): Promise<ResolvedRules>
}

/** The attributes of a request. */
export function attributesOf(user: UserInfo, info: RequestInfo, query: URLSearchParams): AuthorizationAttributes {
  const { verb, isResource, group, version, resource, subresource, namespace, path } = info
  // Two complete literals: V8 creates a hidden class for each object that is a spread with a further property.
  if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection') {
    return { user, verb, isResource, group, version, resource, subresource, namespace, path, name: info.name }
  }
  const selectedValue = (field: string): string | undefined => valueIn(query.get('fieldSelector'), field)
  const name = info.name === '' && verb !== 'deletecollection' ? selectedName(selectedValue) : info.name
  const selectors = { fields: query.get('fieldSelector') ?? '', labels: query.get('labelSelector') ?? '' }
  return {
    user,
    verb,
    isResource,
    group,
    version,
    resource,
    subresource,
    namespace,
    path,
    name,
    selectedValue,
    selectors,
  }
}

/** The name that a list or watch selects, so that rules for single names can allow it. */
function selectedName(selectedValue: (field: string) => string | undefined): string {
  const name = selectedValue('metadata.name')
  return name !== undefined && isPathSegmentName(name, false).length === 0 ? name : ''
}

/** The value that a field selector requires of a field. A selector that cannot be parsed selects no field. */
export function valueIn(selector: string | null | undefined, field: string): string | undefined {
  if (!selector) return undefined
  try {
    return parseFieldSelector(selector).exactValueOf(field)
  } catch {
    return undefined
  }
}

/** The attributes of an action on a resource other than the request itself. */
export function resourceAttributes(
  user: UserInfo,
  about: Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource'> & Partial<AuthorizationAttributes>,
): AuthorizationAttributes {
  return { isResource: true, version: '*', subresource: '', namespace: '', name: '', path: '', ...about, user }
}
