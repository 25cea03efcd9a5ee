import { parseFieldSelector } from '@kubewright/api'
import { isPathSegmentName } from '@kubewright/base'
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
}

/** The result of authorization. A denied request may carry a reason. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** The rules that apply to a user, as SelfSubjectRulesReview lists them. */
export interface ResolvedRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[]
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly resourceNames?: readonly string[]
  }[]
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[]
    readonly nonResourceURLs?: readonly string[]
  }[]
  /** Whether the authorizer may allow more than these rules. */
  readonly incomplete: boolean
  /** Errors of the lookup, or the empty string. */
  readonly evaluationError: string
}

/** Decides whether users may perform actions. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Decision>
  /** The rules of a user in a namespace. @default none, and incomplete */
  rulesFor?(user: UserInfo, namespace: string): Promise<ResolvedRules>
}

/** The attributes of a request. */
export function attributesOf(user: UserInfo, info: RequestInfo, query: URLSearchParams): AuthorizationAttributes {
  const { verb, isResource, group, version, resource, subresource, namespace, path } = info
  const name = info.name === '' && (verb === 'list' || verb === 'watch') ? selectedName(query) : info.name
  return { user, verb, isResource, group, version, resource, subresource, namespace, name, path }
}

/** The name that a list or watch selects, so that rules for single names can allow it. */
function selectedName(query: URLSearchParams): string {
  const selector = query.get('fieldSelector')
  if (!selector) return ''
  try {
    const name = parseFieldSelector(selector).exactValueOf('metadata.name')
    return name !== undefined && isPathSegmentName(name, false).length === 0 ? name : ''
  } catch {
    return ''
  }
}

/** The attributes of an action on a resource other than the request itself. */
export function resourceAttributes(
  user: UserInfo,
  about: Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource'> & Partial<AuthorizationAttributes>,
): AuthorizationAttributes {
  return { isResource: true, version: '*', subresource: '', namespace: '', name: '', path: '', ...about, user }
}
