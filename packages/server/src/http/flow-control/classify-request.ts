import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { serviceAccountOf } from '../../auth/service-account-user.ts'
import type { RequestContext } from '../../request/request-context.ts'
import type { RequestInfo } from '../../request/request-info.ts'
import type { UserInfo } from '../../request/user-info.ts'

/** A FlowSchema in the form in which requests are matched. */
export interface CompiledSchema {
  readonly name: string
  readonly uid: string
  readonly level: string
  readonly matches: (user: UserInfo, info: RequestInfo) => boolean
  /** Distinguishes the flows of the schema: by user, by namespace, or not at all. */
  readonly distinguish: (context: Pick<RequestContext, 'user' | 'info'>) => string
}

/** Compiles FlowSchemas in the order in which they are tried: by precedence, then by name. */
export function compileSchemas(schemas: readonly flowcontrol.FlowSchema[]): CompiledSchema[] {
  const precedence = ({ spec }: flowcontrol.FlowSchema): number => spec?.matchingPrecedence ?? 1000
  const nameOf = ({ metadata }: flowcontrol.FlowSchema): string => metadata?.name ?? ''
  return [...schemas]
    .sort((a, b) => precedence(a) - precedence(b) || (nameOf(a) < nameOf(b) ? -1 : 1))
    .map((schema) => {
      const { spec } = schema
      const rules = spec?.rules ?? []
      const type = spec?.distinguisherMethod?.type
      return {
        name: nameOf(schema),
        uid: schema.metadata?.uid ?? '',
        level: spec?.priorityLevelConfiguration.name ?? '',
        matches: (user, info) => rules.some((rule) => matchesRule(rule, user, info)),
        distinguish: ({ user, info }) => (type === 'ByUser' ? user.name : type === 'ByNamespace' ? info.namespace : ''),
      }
    })
}

type Rule = NonNullable<NonNullable<flowcontrol.FlowSchema['spec']>['rules']>[number]
type ResourceRule = NonNullable<Rule['resourceRules']>[number]
type PathRule = NonNullable<Rule['nonResourceRules']>[number]

/** As in apiserver/pkg/util/flowcontrol/rule.go. */
function matchesRule(rule: Rule, user: UserInfo, info: RequestInfo): boolean {
  if (!rule.subjects?.some((subject) => matchesSubject(subject, user))) return false
  return info.isResource
    ? (rule.resourceRules?.some((one) => matchesResource(one, info)) ?? false)
    : (rule.nonResourceRules?.some((one) => matchesPath(one, info)) ?? false)
}

function matchesSubject(subject: Rule['subjects'][number], user: UserInfo): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === '*' || subject.user?.name === user.name
    case 'Group':
      return subject.group?.name === '*' || user.groups.includes(subject.group?.name ?? '')
    case 'ServiceAccount': {
      const { namespace, name } = subject.serviceAccount ?? {}
      const account = serviceAccountOf(user.name)
      return account !== undefined && account.namespace === namespace && (name === '*' || account.name === name)
    }
    default:
      return false
  }
}

function matchesResource(rule: ResourceRule, info: RequestInfo): boolean {
  const { verb, group, resource, subresource, namespace } = info
  if (!includes(rule.verbs, verb) || !includes(rule.apiGroups, group)) return false
  if (!includes(rule.resources, subresource === '' ? resource : `${resource}/${subresource}`)) return false
  return namespace === '' ? rule.clusterScope === true : includes(rule.namespaces, namespace)
}

function matchesPath(rule: PathRule, { verb, path }: RequestInfo): boolean {
  if (!includes(rule.verbs, verb)) return false
  return (rule.nonResourceURLs ?? []).some(
    (url) => url === '*' || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))),
  )
}

function includes(list: readonly string[] | null | undefined, value: string): boolean {
  return list?.some((item) => item === '*' || item === value) ?? false
}
