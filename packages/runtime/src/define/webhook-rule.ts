import { closestWord } from '@kubewright/base'

/** The operations that the rules of a raw webhook can name. `*` stands for all of them. */
export type RuleOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | '*'

/** The requests that a raw webhook receives. */
export interface WebhookRuleOptions {
  /**
   * Plural names, with a slash before the subresource. A wildcard stands for all names: `pods/*` for all subresources of
   * pods, and `*` without a slash for all resources, but not their subresources.
   */
  readonly resources: readonly string[]
  readonly operations: readonly RuleOperation[]
  /** API groups; `*` for all. @default [''], the core group */
  readonly groups?: readonly string[] | undefined
  /** API versions; `*` for all. @default ['v1'] */
  readonly versions?: readonly string[] | undefined
  /** @default '*', objects with and without a namespace */
  readonly scope?: 'Cluster' | 'Namespaced' | '*' | undefined
}

/** A rule of a webhook configuration. */
export interface WebhookRule {
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly operations: readonly RuleOperation[]
  readonly scope: 'Cluster' | 'Namespaced' | '*'
}

const operationNames: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT', '*']
// As in apiserver's validation: a resource, a subresource, or wildcards for either.
const resourcePattern = /^(\*|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)(\/(\*|[a-z0-9][-a-z0-9]*))?$/

/** Checks the rules of a raw webhook and adds their defaults. Throws a TypeError that names the field and the fix. */
export function webhookRules(what: string, rules: readonly WebhookRuleOptions[]): readonly WebhookRule[] {
  if (rules.length === 0) throw new TypeError(`Cannot define ${what} as 'rules' is empty: add at least one rule`)
  return Object.freeze(rules.map((rule, index) => webhookRule(what, `rules[${index}]`, rule)))
}

function webhookRule(what: string, at: string, rule: WebhookRuleOptions): WebhookRule {
  const { resources, operations, groups = [''], versions = ['v1'], scope = '*' } = rule
  for (const [field, values] of Object.entries({ resources, operations, groups, versions })) {
    if (values.length === 0) throw new TypeError(`Cannot define ${what} as '${at}.${field}' is empty: use '*' for all`)
    if (field !== 'resources' && values.length > 1 && values.includes('*')) {
      throw new TypeError(`Cannot define ${what} as '${at}.${field}' has further values besides '*': remove them`)
    }
  }
  for (const operation of operations) {
    if (operationNames.includes(operation)) continue
    const meant = closestWord(operation.toUpperCase(), operationNames) ?? 'CREATE'
    throw new TypeError(
      `Cannot define ${what} as '${at}.operations' contains '${operation}', which is not an operation: use '${meant}'`,
    )
  }
  for (const resource of resources) {
    if (resourcePattern.test(resource)) continue
    throw new TypeError(
      `Cannot define ${what} as '${at}.resources' contains '${resource}': use a plural name in lower case, such as 'pods' or 'pods/exec'`,
    )
  }
  return Object.freeze({
    apiGroups: Object.freeze([...groups]),
    apiVersions: Object.freeze([...versions]),
    resources: Object.freeze([...resources]),
    operations: Object.freeze([...operations]),
    scope,
  })
}
