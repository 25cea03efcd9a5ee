import { CaughtError } from '@kubewright/base'
import { type PolicyRule, urlCovers } from './policy-rule.ts'

const all = '*'
const none: readonly string[] = []

/** The default limit of {@link uncoveredRules} on the steps of one comparison. */
export const maxCoverageSteps = 500_000
/** How many missing permissions {@link uncoveredRules} reports at most. */
export const maxUncovered = 10_000

/** Thrown when rules have too many combinations to compare within the limit of steps. The caller must refuse the request. */
export class RulesTooComplexError extends CaughtError {
  constructor() {
    super('the rules contain too many combinations of groups, resources, verbs and names to verify; split the role')
  }
}

/** The permissions that are wanted and not held. */
export interface Uncovered {
  /** One rule per permission, in the order of the wanted rules; at most {@link maxUncovered}. */
  readonly rules: PolicyRule[]
  /** Whether more permissions are missing than reported. */
  readonly truncated: boolean
}

/**
 * The parts of the wanted rules that the held rules do not cover, split into single permissions.
 *
 * A rule of 500 groups, 500 resources and 500 verbs holds 125 million permissions, so these are never enumerated. Values of a dimension
 * that the same held rules cover form one class, and only combinations of classes are compared. The work is bounded by `maxSteps`: a
 * comparison that needs more throws {@link RulesTooComplexError}.
 */
export function uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
  maxSteps: number = maxCoverageSteps,
): Uncovered {
  const budget = new StepBudget(maxSteps)
  const owners = held.map((rule) => new HeldRule(rule))
  const rules: PolicyRule[] = []
  let truncated = false
  const report = (missing: Iterable<PolicyRule>): void => {
    for (const rule of missing) {
      budget.spend(1)
      if (rules.length < maxUncovered) rules.push(rule)
      else truncated = true
      if (truncated) return
    }
  }
  for (const rule of wanted) {
    const verbs = classesOf(rule.verbs ?? none, owners, (owner, verb) => owner.coversVerb(verb), budget)
    report(missingResources(rule, owners, verbs, budget))
    report(missingUrls(rule, owners, verbs, budget))
  }
  return { rules, truncated }
}

/** Counts the steps of one comparison. */
class StepBudget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new RulesTooComplexError()
  }
}

/** A held rule with its lists as sets, so that asking for one value takes one step. */
class HeldRule {
  readonly #verbs: ReadonlySet<string>
  readonly #groups: ReadonlySet<string>
  readonly #resources: ReadonlySet<string>
  readonly #names: ReadonlySet<string>
  readonly #urls: ReadonlySet<string>
  readonly #urlPatterns: readonly string[]

  constructor(rule: PolicyRule) {
    this.#verbs = new Set(rule.verbs ?? none)
    this.#groups = new Set(rule.apiGroups ?? none)
    this.#resources = new Set(rule.resources ?? none)
    this.#names = new Set(rule.resourceNames ?? none)
    this.#urls = new Set(rule.nonResourceURLs ?? none)
    this.#urlPatterns = [...this.#urls].filter((url) => url.endsWith(all))
  }

  coversVerb(verb: string): boolean {
    return this.#verbs.has(all) || this.#verbs.has(verb)
  }

  coversGroup(group: string): boolean {
    return this.#groups.has(all) || this.#groups.has(group)
  }

  coversResource(resource: string): boolean {
    const slash = resource.indexOf('/')
    return (
      this.#resources.has(all) ||
      this.#resources.has(resource) ||
      (slash >= 0 && this.#resources.has(`*/${resource.slice(slash + 1)}`))
    )
  }

  /** @param name undefined for a rule without names, which covers all names */
  coversName(name: string | undefined): boolean {
    return this.#names.size === 0 || (name !== undefined && this.#names.has(name))
  }

  coversUrl(url: string, budget: StepBudget): boolean {
    if (this.#urls.has(url)) return true
    budget.spend(this.#urlPatterns.length)
    return this.#urlPatterns.some((pattern) => urlCovers(pattern, url))
  }
}

/** Values of one dimension that exactly the same held rules cover. */
interface ValueClass<T> {
  /** The covering rules, as bits by position. */
  readonly owners: bigint
  /** The values with their positions in the wanted rule. */
  readonly members: { readonly value: T; readonly position: number }[]
}

function classesOf<T>(
  values: readonly T[],
  owners: readonly HeldRule[],
  covers: (owner: HeldRule, value: T) => boolean,
  budget: StepBudget,
): ValueClass<T>[] {
  const classes = new Map<bigint, ValueClass<T>>()
  for (const [position, value] of values.entries()) {
    budget.spend(owners.length)
    let bits = 0n
    for (const [index, owner] of owners.entries()) if (covers(owner, value)) bits |= 1n << BigInt(index)
    const known = classes.get(bits)
    if (known) known.members.push({ value, position })
    else classes.set(bits, { owners: bits, members: [{ value, position }] })
  }
  return [...classes.values()]
}

function* missingResources(
  rule: PolicyRule,
  owners: readonly HeldRule[],
  verbs: readonly ValueClass<string>[],
  budget: StepBudget,
): Iterable<PolicyRule> {
  const groups = classesOf(rule.apiGroups ?? none, owners, (owner, group) => owner.coversGroup(group), budget)
  const resources = classesOf(rule.resources ?? none, owners, (owner, value) => owner.coversResource(value), budget)
  const listed = rule.resourceNames ?? none
  const names = classesOf<string | undefined>(
    listed.length === 0 ? [undefined] : listed,
    owners,
    (owner, name) => owner.coversName(name),
    budget,
  )
  for (const { group, resource, verb, name } of inOrder(combinations(groups, resources, verbs, names, budget))) {
    const piece = { apiGroups: [group], resources: [resource], verbs: [verb] }
    yield name === undefined ? piece : { ...piece, resourceNames: [name] }
  }
}

function* missingUrls(
  rule: PolicyRule,
  owners: readonly HeldRule[],
  verbs: readonly ValueClass<string>[],
  budget: StepBudget,
): Iterable<PolicyRule> {
  const urls = classesOf(rule.nonResourceURLs ?? none, owners, (owner, url) => owner.coversUrl(url, budget), budget)
  const single: ValueClass<string | undefined>[] = [
    { owners: (1n << BigInt(owners.length)) - 1n, members: [{ value: undefined, position: 0 }] },
  ]
  const unused = single as ValueClass<string>[]
  for (const { group, verb } of inOrder(combinations(urls, unused, verbs, single, budget)))
    yield { nonResourceURLs: [group], verbs: [verb] }
}

/** One permission that no held rule covers. */
interface Missing {
  readonly group: string
  readonly resource: string
  readonly verb: string
  readonly name: string | undefined
  readonly positions: readonly [number, number, number, number]
}

/** The permissions in classes that no held rule covers together: as many as are reported, and one more to know of the rest. */
function* combinations(
  groups: readonly ValueClass<string>[],
  resources: readonly ValueClass<string>[],
  verbs: readonly ValueClass<string>[],
  names: readonly ValueClass<string | undefined>[],
  budget: StepBudget,
): Iterable<Missing> {
  for (const g of groups) {
    for (const r of resources) {
      const ofResource = g.owners & r.owners
      budget.spend(1)
      for (const v of verbs) {
        const ofVerb = ofResource & v.owners
        budget.spend(1)
        for (const n of names) {
          budget.spend(1)
          if ((ofVerb & n.owners) !== 0n) continue
          for (const group of g.members)
            for (const resource of r.members)
              for (const verb of v.members)
                for (const name of n.members)
                  yield {
                    group: group.value,
                    resource: resource.value,
                    verb: verb.value,
                    name: name.value,
                    positions: [group.position, resource.position, verb.position, name.position],
                  }
        }
      }
    }
  }
}

/** At most one more permission than is reported, in the order of the wanted rule. */
function inOrder(missing: Iterable<Missing>): Missing[] {
  const taken: Missing[] = []
  for (const one of missing) {
    taken.push(one)
    if (taken.length > maxUncovered) break
  }
  return taken.sort((a, b) => {
    for (const [index, position] of a.positions.entries()) {
      const difference = position - b.positions[index]!
      if (difference !== 0) return difference
    }
    return 0
  })
}
