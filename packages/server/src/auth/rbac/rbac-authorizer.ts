import { aggregateMessages } from '../../request/aggregate-messages.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { mastersGroup } from '../../request/user-info.ts'
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts'
import { type PolicyRule, ruleAllows } from './policy-rule.ts'
import type { RbacPolicy } from './rbac-policy.ts'

/**
 * Allows the actions that roles grant, and everything to system:masters. Before a policy is attached only system:masters is
 * allowed.
 */
export class RbacAuthorizer implements Authorizer {
  #policy: RbacPolicy | undefined

  /** Sets the policy. */
  attach(policy: RbacPolicy): void {
    this.#policy = policy
  }

  authorize(attributes: AuthorizationAttributes): Decision {
    const { user, namespace } = attributes
    if (user.groups.includes(mastersGroup)) return { allowed: true, reason: '' }
    let reason: string | undefined
    const errors: string[] = []
    this.#policy?.visitRules(
      user,
      namespace,
      ({ rule, source }) => {
        if (!ruleAllows(rule, attributes)) return false
        reason = `RBAC: allowed by ${source()}`
        return true
      },
      (error) => errors.push(error),
    )
    if (reason !== undefined) return { allowed: true, reason }
    return { allowed: false, reason: errors.length === 0 ? '' : `RBAC: ${aggregateMessages(errors)}` }
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<ResolvedRules> {
    const { rules, errors } = this.policyRulesFor(user, namespace)
    return {
      resourceRules: rules
        .filter(({ resources }) => resources && resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs: verbs ?? [],
          ...(apiGroups?.length ? { apiGroups } : {}),
          ...(resources?.length ? { resources } : {}),
          ...(resourceNames?.length ? { resourceNames } : {}),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs && nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs: verbs ?? [], nonResourceURLs: nonResourceURLs! })),
      incomplete: false,
      evaluationError: errors.length === 0 ? '' : aggregateMessages(errors),
    }
  }

  /** The rules that apply to a user, and the errors of bindings that grant none. */
  policyRulesFor(user: UserInfo, namespace: string): { readonly rules: PolicyRule[]; readonly errors: string[] } {
    const rules: PolicyRule[] = []
    const errors: string[] = []
    this.#policy?.visitRules(
      user,
      namespace,
      ({ rule }) => {
        rules.push(rule)
        return false
      },
      (error) => errors.push(error),
    )
    return { rules, errors }
  }
}
