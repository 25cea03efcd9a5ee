import { goQuote } from '@kubewright/base'
import type { AuthorizationAttributes } from '../authorizer.ts'

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null | undefined
  readonly apiGroups?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  readonly resourceNames?: readonly string[] | undefined
  readonly nonResourceURLs?: readonly string[] | undefined
}

const all = '*'
const none: readonly string[] = []

/** Whether the rule allows an action. */
export function ruleAllows(rule: PolicyRule, attributes: AuthorizationAttributes): boolean {
  if (!hasOrAll(rule.verbs ?? none, attributes.verb)) return false
  if (!attributes.isResource) return (rule.nonResourceURLs ?? none).some((url) => urlCovers(url, attributes.path))
  return (
    hasOrAll(rule.apiGroups ?? none, attributes.group) &&
    resourceMatches(rule.resources ?? none, attributes.resource, attributes.subresource) &&
    (!rule.resourceNames || rule.resourceNames.length === 0 || rule.resourceNames.includes(attributes.name))
  )
}

function hasOrAll(list: readonly string[], item: string): boolean {
  return list.includes(all) || list.includes(item)
}

/** Only `*` and `*\/log` are patterns: `pods` does not include `pods/log`, and `pods/*` matches nothing. */
function resourceMatches(list: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === '') return hasOrAll(list, resource)
  return hasOrAll(list, `${resource}/${subresource}`) || list.includes(`*/${subresource}`)
}

/** Whether the path equals the pattern, or starts with it up to a trailing star. */
export function urlCovers(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith(all) && path.startsWith(withoutTrailingStars(pattern)))
}

function withoutTrailingStars(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === all) end--
  return pattern.slice(0, end)
}

/** Joins rules that differ only in their verb, for messages. */
export function compactRules(rules: readonly PolicyRule[]): PolicyRule[] {
  const compacted: PolicyRule[] = []
  const simple = new Map<string, { rule: PolicyRule; verbs: string[] }>()
  for (const rule of rules) {
    const names = rule.resourceNames ?? none
    const isSimple =
      names.length <= 1 && !rule.nonResourceURLs?.length && rule.apiGroups?.length === 1 && rule.resources?.length === 1
    if (!isSimple) {
      compacted.push(rule)
      continue
    }
    const key = JSON.stringify([rule.apiGroups, rule.resources, names])
    const known = simple.get(key)
    if (known) for (const verb of rule.verbs ?? none) known.verbs.push(verb)
    else simple.set(key, { rule, verbs: [...(rule.verbs ?? none)] })
  }
  for (const { rule, verbs } of simple.values()) compacted.push({ ...rule, verbs })
  return compacted
}

/** A rule as the message about an escalation prints it: `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = []
  const add = (name: string, list: readonly string[] | null | undefined): void => {
    if (list && list.length > 0) parts.push(`${name}:${goStringList(list)}`)
  }
  add('APIGroups', rule.apiGroups)
  add('Resources', rule.resources)
  add('NonResourceURLs', rule.nonResourceURLs)
  add('ResourceNames', rule.resourceNames)
  add('Verbs', rule.verbs)
  return `{${parts.join(', ')}}`
}

/** A list of strings as Go's %q prints it. */
export function goStringList(list: readonly string[]): string {
  return `[${list.map(goQuote).join(' ')}]`
}
