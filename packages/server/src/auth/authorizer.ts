import { parseFieldSelector } from '@kubewright/api'
import { isPathSegmentName } from '@kubewright/base'
import type { RequestInfo } from '../request/request-info.ts'
import type { UserInfo } from '../request/user-info.ts'

/** What somebody wants to do. */
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
  /** For requests that are about no resource. */
  readonly path: string
}

/** Allowed, or no opinion with a reason. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** A rule that applies to somebody, as SelfSubjectRulesReview lists them. */
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
  /** True when the authorizer cannot list all that it would allow. */
  readonly incomplete: boolean
  /** What went wrong while the rules were looked up; empty when nothing did. */
  readonly evaluationError: string
}

/** Says whether somebody may do something. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Decision>
  /** What somebody may do in a namespace. @default nothing, and incomplete */
  rulesFor?(user: UserInfo, namespace: string): Promise<ResolvedRules>
}

/** What a request wants to do. */
export function attributesOf(user: UserInfo, info: RequestInfo, query: URLSearchParams): AuthorizationAttributes {
  const { verb, isResource, group, version, resource, subresource, namespace, path } = info
  const name = info.name === '' && (verb === 'list' || verb === 'watch') ? selectedName(query) : info.name
  return { user, verb, isResource, group, version, resource, subresource, namespace, name, path }
}

/** A list or watch that selects one name is about that name, so that rules for names can allow it. */
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

/** Attributes about a resource, for checks that are not the request itself. */
export function resourceAttributes(
  user: UserInfo,
  about: Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource'> & Partial<AuthorizationAttributes>,
): AuthorizationAttributes {
  return { isResource: true, version: '*', subresource: '', namespace: '', name: '', path: '', ...about, user }
}
