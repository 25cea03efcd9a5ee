/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

type ListField = 'apiGroups' | 'resources' | 'resourceNames' | 'nonResourceURLs' | 'verbs'

const fields: readonly ListField[] = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs', 'verbs']

/**
 * Merges rules into few rules with the same permissions, independent of their order. The steps and the order of the
 * result are those of controller-gen: joins the verbs of a resource, then resources with equal verbs, then groups, then
 * URLs. Lists are sorted without duplicates; `*` replaces all other verbs.
 */
export function mergeRules(rules: Iterable<PolicyRule>): PolicyRule[] {
  let merged = [...rules].flatMap(split)
  for (const field of ['verbs', 'resources', 'apiGroups', 'nonResourceURLs'] as const) merged = joinBy(field, merged)
  return merged.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** One rule for each group and resource, or URL, so that the order of the rules does not matter. */
function split(rule: PolicyRule): PolicyRule[] {
  const { apiGroups = [], resources = [], nonResourceURLs = [], resourceNames = [], verbs } = rule
  return [
    ...apiGroups.flatMap((group) =>
      resources.map((resource) => tidy({ apiGroups: [group], resources: [resource], resourceNames, verbs })),
    ),
    ...nonResourceURLs.map((url) => tidy({ nonResourceURLs: [url], verbs })),
  ]
}

function joinBy(field: ListField, rules: readonly PolicyRule[]): PolicyRule[] {
  const groups = new Map<string, PolicyRule>()
  for (const rule of rules) {
    // Rules without the field, such as those for URLs, are not joined by it.
    const key = rule[field] === undefined ? JSON.stringify(rule) : JSON.stringify({ ...rule, [field]: [] })
    const known = groups.get(key)
    groups.set(key, known === undefined ? rule : tidy({ ...rule, [field]: [...known[field]!, ...rule[field]!] }))
  }
  return [...groups.values()]
}

/** Normalizes the order of the fields, so that equal rules have equal JSON. */
function tidy(rule: PolicyRule): PolicyRule {
  const result: { -readonly [F in ListField]?: readonly string[] } = {}
  for (const field of fields) {
    const values = rule[field]
    if (values === undefined || (values.length === 0 && field !== 'verbs')) continue
    result[field] = field === 'verbs' && values.includes('*') ? ['*'] : [...new Set(values)].sort()
  }
  return result as PolicyRule
}

function sortKey({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string {
  return [apiGroups, resources, resourceNames, nonResourceURLs].map((list) => list.join('&')).join(' + ')
}
