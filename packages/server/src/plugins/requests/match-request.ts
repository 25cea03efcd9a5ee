import { type LabelSelectorLike, newInternalError, newNotFound, type Selector, selectorFrom } from '@kubewright/api'
import type { ObjectLookup } from '../../registry/object-lookup.ts'
import type { Resource } from '../../resource/resource.ts'
import { isNamespaces, type ReviewedRequest } from './reviewed-request.ts'

/** Matches requests by operation and resource. */
export interface RequestRule {
  readonly operations?: readonly string[] | undefined
  readonly apiGroups?: readonly string[] | undefined
  readonly apiVersions?: readonly string[] | undefined
  /** Such as `pods`, `pods/status`, `*` or `*\/scale`. */
  readonly resources?: readonly string[] | undefined
  readonly scope?: string | undefined
  /** Restricts the rule to objects of these names. @default all */
  readonly resourceNames?: readonly string[] | undefined
}

/** The requests that a webhook or policy applies to. */
export interface MatchCriteria {
  /** Undefined matches all requests. */
  readonly rules: readonly RequestRule[] | undefined
  readonly excludeRules: readonly RequestRule[]
  readonly matchPolicy: string
  /** Undefined selects everything; throws when the selector is invalid. */
  readonly namespaceSelector: () => Selector | undefined
  readonly objectSelector: () => Selector | undefined
}

/** Parses a selector on first use. A selector that selects everything becomes undefined. */
export function lazySelector(like: LabelSelectorLike | undefined): () => Selector | undefined {
  if (!like || (Object.keys(like.matchLabels ?? {}).length === 0 && (like.matchExpressions ?? []).length === 0)) {
    return () => undefined
  }
  let selector: Selector | undefined
  return () => {
    try {
      return (selector ??= selectorFrom(like))
    } catch (error) {
      throw newInternalError(error as Error)
    }
  }
}

/**
 * The resource that a request matches: its own, or an equivalent one in another version; undefined when none matches. Resources are
 * compared before labels, because that is synchronous.
 */
export async function matchRequest(
  request: ReviewedRequest,
  criteria: MatchCriteria,
  lookup: ObjectLookup,
): Promise<Resource | undefined> {
  const { rules, excludeRules, matchPolicy } = criteria
  if (excludeRules.length > 0 && matchRules(request, excludeRules, matchPolicy)) return undefined
  const resource = rules ? matchRules(request, rules, matchPolicy) : request.attributes.resource
  if (!resource || !matchesObject(request, criteria)) return undefined
  return (await matchesNamespace(request, criteria, lookup)) ? resource : undefined
}

function matchRules(
  request: ReviewedRequest,
  rules: readonly RequestRule[],
  matchPolicy: string,
): Resource | undefined {
  const { resource } = request.attributes
  if (rules.some((rule) => matchesRule(request, rule, resource))) return resource
  if (matchPolicy !== 'Equivalent') return undefined
  const equivalents = request.equivalents()
  if (equivalents.length === 0) return undefined
  for (const rule of rules) {
    const found = equivalents.find((equivalent) => matchesRule(request, rule, equivalent))
    if (found) return found
  }
  return undefined
}

function matchesRule(request: ReviewedRequest, rule: RequestRule, { kind }: Resource): boolean {
  const { operation, subresource, name } = request.attributes
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, kind.group) &&
    includes(rule.apiVersions, kind.version) &&
    matchesResource(rule.resources ?? [], kind.plural, subresource) &&
    matchesScope(request, rule.scope) &&
    ((rule.resourceNames ?? []).length === 0 || rule.resourceNames!.includes(name))
  )
}

function includes(values: readonly string[] | undefined, value: string): boolean {
  return values !== undefined && (values.includes(value) || values.includes('*'))
}

function matchesResource(patterns: readonly string[], plural: string, subresource: string): boolean {
  return patterns.some((pattern) => {
    const slash = pattern.indexOf('/')
    const main = slash < 0 ? pattern : pattern.slice(0, slash)
    const sub = slash < 0 ? '' : pattern.slice(slash + 1)
    return (main === '*' || main === plural) && (sub === '*' || sub === subresource)
  })
}

function matchesScope(request: ReviewedRequest, scope: string | undefined): boolean {
  if (scope === undefined || scope === '*') return true
  // Requests for a namespace object carry its name as their namespace, but are cluster-scoped.
  const inCluster = request.namespace === '' || isNamespaces(request.attributes.resource)
  return scope === 'Cluster' ? inCluster : scope === 'Namespaced' && !inCluster
}

function matchesObject({ attributes: { object, old } }: ReviewedRequest, { objectSelector }: MatchCriteria): boolean {
  const selector = objectSelector()
  if (!selector) return true
  return [object, old].some((candidate) => candidate?.metadata && selector.matches(candidate.metadata.labels ?? {}))
}

/** Whether the namespace selector matches. Cluster-scoped objects always match. */
async function matchesNamespace(
  request: ReviewedRequest,
  { namespaceSelector }: MatchCriteria,
  lookup: ObjectLookup,
): Promise<boolean> {
  const { resource, subresource, operation, object } = request.attributes
  if (request.namespace === '' && resource.kind.plural !== 'namespaces') return true
  const selector = namespaceSelector()
  if (!selector) return true
  const writes = operation === 'CREATE' || operation === 'UPDATE'
  if (resource.kind.plural === 'namespaces' && subresource === '' && writes) {
    return selector.matches(object?.metadata.labels ?? {})
  }
  const namespace = await lookup.find(['', 'v1', 'namespaces'], '', request.namespace)
  if (!namespace) throw newNotFound({ group: '', resource: 'namespaces' }, request.namespace)
  return selector.matches(namespace.metadata.labels ?? {})
}
