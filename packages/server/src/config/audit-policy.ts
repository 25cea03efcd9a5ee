import { goQuote, isDNS1123Subdomain, KubewrightError } from '@kubewright/base'
import type { UserInfo } from '../request/user-info.ts'
import { ConfigFields, ConfigProblems } from './config-fields.ts'

/** How much an audit event records, in rising order. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const

/** How much an audit event records. */
export type AuditLevel = (typeof auditLevels)[number]

/** The moments at which events are written. Only long-running requests and failed authentications have ResponseStarted. */
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const

/** The moment at which an event is written. */
export type AuditStage = (typeof auditStages)[number]

/** A rule of a policy. An empty list matches every request. */
export interface AuditRule {
  readonly level: AuditLevel
  readonly users: readonly string[]
  readonly userGroups: readonly string[]
  readonly verbs: readonly string[]
  readonly resources: readonly {
    readonly group: string
    readonly resources: readonly string[]
    readonly resourceNames: readonly string[]
  }[]
  readonly namespaces: readonly string[]
  readonly nonResourceURLs: readonly string[]
  readonly omitStages: readonly AuditStage[]
  readonly omitManagedFields?: boolean | undefined
}

/** A policy of audit.k8s.io/v1: the first rule that matches a request decides what is recorded. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[]
  readonly omitStages: readonly AuditStage[]
  readonly omitManagedFields: boolean
}

/** The parts of a request that rules match. */
export interface AuditedRequest {
  /** Undefined when authentication failed. */
  readonly user: UserInfo | undefined
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

/** What the policy records of a request. */
export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** A parsed policy, with fields that are ignored because the format does not have them. */
export interface ParsedAuditPolicy {
  readonly policy: AuditPolicy
  readonly unknownFields: readonly string[]
}

/** Parses a policy, whose checks are those of apiserver/pkg/audit/policy. Throws an Error that names all wrong fields. */
export function parseAuditPolicy(value: unknown): ParsedAuditPolicy {
  const problems = new ConfigProblems()
  const fields = new ConfigFields(value, '', problems)
  const type = `${fields.string('apiVersion') ?? ''}, Kind=${fields.string('kind') ?? ''}`
  if (type !== 'audit.k8s.io/v1, Kind=Policy')
    throw new KubewrightError('KW_SERVER_CONFIG', `unknown group version field ${type} in policy`)
  fields.raw('metadata')
  const policy: AuditPolicy = {
    omitStages: stagesOf(fields),
    omitManagedFields: fields.boolean('omitManagedFields') ?? false,
    rules: fields.objects('rules').map(ruleOf),
  }
  fields.done()
  if (problems.errors.length > 0) throw new KubewrightError('KW_SERVER_CONFIG', problems.errors.join(', '))
  if (policy.rules.length === 0) throw new KubewrightError('KW_SERVER_CONFIG', 'loaded illegal policy with 0 rules')
  return { policy, unknownFields: problems.unknown }
}

function ruleOf(fields: ConfigFields): AuditRule {
  const level = fields.string('level') ?? ''
  if (level === '') fields.report('level', 'Required value')
  else if (!(auditLevels as readonly string[]).includes(level)) {
    const supported = [...auditLevels].sort().map(goQuote).join(', ')
    fields.report('level', `Unsupported value: ${goQuote(level)}: supported values: ${supported}`)
  }
  const rule: AuditRule = {
    level: level as AuditLevel,
    users: fields.strings('users'),
    userGroups: fields.strings('userGroups'),
    verbs: fields.strings('verbs'),
    resources: fields.objects('resources').map(resourcesOf),
    namespaces: fields.strings('namespaces'),
    nonResourceURLs: fields.strings('nonResourceURLs'),
    omitStages: stagesOf(fields),
    omitManagedFields: fields.boolean('omitManagedFields'),
  }
  for (const [index, url] of rule.nonResourceURLs.entries()) {
    const invalid = (why: string): void =>
      fields.report(`nonResourceURLs[${index}]`, `Invalid value: ${goQuote(url)}: ${why}`)
    if (url !== '*' && !url.startsWith('/')) invalid(`non-resource URL rules must begin with a '/' character`)
    if (url.slice(0, -1).includes('*'))
      invalid(`non-resource URL wildcards '*' must be the final character of the rule`)
  }
  if (rule.nonResourceURLs.length > 0 && rule.resources.length + rule.namespaces.length > 0) {
    const value = JSON.stringify(rule.nonResourceURLs)
    fields.report(
      'nonResourceURLs',
      `Invalid value: ${value}: rules cannot apply to both regular resources and non-resource URLs`,
    )
  }
  fields.done()
  return rule
}

function resourcesOf(fields: ConfigFields): AuditRule['resources'][number] {
  const found = {
    group: fields.string('group') ?? '',
    resources: fields.strings('resources'),
    resourceNames: fields.strings('resourceNames'),
  }
  const problems = found.group === '' ? [] : isDNS1123Subdomain(found.group)
  if (problems.length > 0) fields.report('group', `Invalid value: ${goQuote(found.group)}: ${problems.join(',')}`)
  if (found.resourceNames.length > 0 && found.resources.length === 0) {
    const value = JSON.stringify(found.resourceNames)
    fields.report('resourceNames', `Invalid value: ${value}: using resourceNames requires at least one resource`)
  }
  fields.done()
  return found
}

function stagesOf(fields: ConfigFields): AuditStage[] {
  const stages = fields.strings('omitStages')
  for (const [index, stage] of stages.entries()) {
    if ((auditStages as readonly string[]).includes(stage)) continue
    const why = `allowed stages are ${auditStages.join(',')}`
    fields.report(`omitStages[${index}]`, `Invalid value: ${goQuote(stage)}: ${why}`)
  }
  return stages as AuditStage[]
}

/** Compiles a policy to a function that decides about a request: its first matching rule, or level None. */
export function auditDecisions(policy: AuditPolicy): (request: AuditedRequest) => AuditDecision {
  const compiled = policy.rules.map((rule) => ({
    rule,
    decision: {
      level: rule.level,
      omitStages: new Set([...policy.omitStages, ...rule.omitStages]),
      omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields,
    },
  }))
  const none: AuditDecision = {
    level: 'None',
    omitStages: new Set(policy.omitStages),
    omitManagedFields: policy.omitManagedFields,
  }
  return (request) => compiled.find(({ rule }) => matches(rule, request))?.decision ?? none
}

function matches(rule: AuditRule, request: AuditedRequest): boolean {
  const { user, verb } = request
  if (rule.users.length > 0 && !(user && rule.users.includes(user.name))) return false
  if (rule.userGroups.length > 0 && !user?.groups.some((group) => rule.userGroups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false
  if (rule.namespaces.length > 0 || rule.resources.length > 0) return matchesResource(rule, request)
  if (rule.nonResourceURLs.length > 0) {
    return !request.isResource && rule.nonResourceURLs.some((url) => matchesPath(url, request.path))
  }
  return true
}

function matchesPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))
}

/** A rule for `pods` does not match `pods/log`: subresources are named as `pods/log`, `pods/*` or `*` followed by `/log`. */
function matchesResource({ namespaces, resources }: AuditRule, request: AuditedRequest): boolean {
  if (!request.isResource) return false
  // Requests for cluster-scoped resources have the namespace "".
  if (namespaces.length > 0 && !namespaces.includes(request.namespace)) return false
  if (resources.length === 0) return true
  const { group, resource, subresource, name } = request
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  const matchesName = (pattern: string): boolean =>
    pattern === combined ||
    pattern === '*' ||
    (subresource !== '' && pattern === `*/${subresource}`) ||
    pattern === `${resource}/*`
  return resources.some(
    (entry) =>
      entry.group === group &&
      (entry.resources.length === 0 ||
        ((entry.resourceNames.length === 0 || entry.resourceNames.includes(name)) &&
          entry.resources.some(matchesName))),
  )
}
