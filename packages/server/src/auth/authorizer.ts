import type { RequestInfo } from '../http/request-info.ts'
import type { UserInfo } from '../request-context.ts'

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
export function attributesOf(user: UserInfo, info: RequestInfo): AuthorizationAttributes {
  const { verb, isResource, group, version, resource, subresource, namespace, name, path } = info
  return { user, verb, isResource, group, version, resource, subresource, namespace, name, path }
}

/** Attributes about a resource, for checks that are not the request itself. */
export function resourceAttributes(
  user: UserInfo,
  about: Pick<AuthorizationAttributes, 'verb' | 'group' | 'resource'> & Partial<AuthorizationAttributes>,
): AuthorizationAttributes {
  return { isResource: true, version: '*', subresource: '', namespace: '', name: '', path: '', ...about, user }
}
