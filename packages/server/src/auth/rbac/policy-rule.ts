import { goQuote } from '@kubewright/base'
import type { AuthorizationAttributes } from '../authorizer.ts'

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly verbs?: readonly string[] | null
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
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
function urlCovers(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith(all) && path.startsWith(pattern.replace(/\*+$/, '')))
}

/** The parts of the wanted rules that the held rules do not cover, split into single permissions. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(piecesOf).filter((piece) => !held.some((rule) => ruleCovers(rule, piece)))
}

/** Splits a rule into rules of one verb, one resource of one group and at most one name, or of one verb and one path. */
function piecesOf(rule: PolicyRule): PolicyRule[] {
  const verbs = rule.verbs ?? none
  const pieces: PolicyRule[] = []
  for (const group of rule.apiGroups ?? none) {
    for (const resource of rule.resources ?? none) {
      for (const verb of verbs) {
        const piece = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (!rule.resourceNames || rule.resourceNames.length === 0) pieces.push(piece)
        else for (const name of rule.resourceNames) pieces.push({ ...piece, resourceNames: [name] })
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? none)
    for (const verb of verbs) pieces.push({ nonResourceURLs: [url], verbs: [verb] })
  return pieces
}

function ruleCovers(owner: PolicyRule, piece: PolicyRule): boolean {
  const covers = (list: readonly string[] | null | undefined, wanted: readonly string[] | null | undefined): boolean =>
    (wanted ?? none).every((item) => hasOrAll(list ?? none, item))
  const names = owner.resourceNames ?? none
  return (
    covers(owner.verbs, piece.verbs) &&
    covers(owner.apiGroups, piece.apiGroups) &&
    (piece.resources ?? none).every((resource) => resourceCovers(owner.resources ?? none, resource)) &&
    // A rule without names covers all names.
    (names.length === 0 ||
      (piece.resourceNames?.length ? piece.resourceNames.every((name) => names.includes(name)) : false)) &&
    (piece.nonResourceURLs ?? none).every((path) => (owner.nonResourceURLs ?? none).some((url) => urlCovers(url, path)))
  )
}

function resourceCovers(list: readonly string[], resource: string): boolean {
  const slash = resource.indexOf('/')
  return hasOrAll(list, resource) || (slash >= 0 && list.includes(`*/${resource.slice(slash + 1)}`))
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
    if (known) known.verbs.push(...(rule.verbs ?? none))
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
