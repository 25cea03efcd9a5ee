import { newForbidden, newNotFound } from '@kubewright/api'
import { deepEqual, goQuote } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import { aggregateMessages } from '../../request/aggregate-messages.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import { mastersGroup } from '../../request/user-info.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StrategyContext } from '../../resource/strategy.ts'
import { type Authorizer, resourceAttributes } from '../authorizer.ts'
import { compactRules, goStringList, type PolicyRule, ruleText } from './policy-rule.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'
import { type RbacPolicy, type RoleRef, rbacGroup } from './rbac-policy.ts'
import { RulesTooComplexError, type Uncovered, uncoveredRules } from './rule-coverage.ts'

const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** Prevents users from granting permissions that they do not have (pkg/registry/rbac, policybased storages). */
export class EscalationGuard {
  readonly #authorizer: Authorizer
  readonly #rbac: RbacAuthorizer
  readonly #policy: RbacPolicy
  readonly #store: Store

  constructor(parts: { authorizer: Authorizer; rbac: RbacAuthorizer; policy: RbacPolicy; store: Store }) {
    this.#authorizer = parts.authorizer
    this.#rbac = parts.rbac
    this.#policy = parts.policy
    this.#store = parts.store
  }

  /** Throws 403 unless the user has all permissions of the role, or the verb escalate on it. */
  async checkRole(role: MutableObject, old: MutableObject | undefined, context: StrategyContext): Promise<void> {
    const { user, info } = context.request
    if (user.groups.includes(mastersGroup)) return
    const { group, resource, name, namespace } = info
    const escalate = resourceAttributes(user, { verb: 'escalate', group, resource, name, namespace })
    if ((await this.#authorizer.authorize(escalate)).allowed) return
    if (old && onlyCollectorFieldsChanged(role, old)) return

    await this.#catchUp(context)
    const about = { group: rbacGroup, resource }
    const problem = this.#missing((role['rules'] as PolicyRule[] | null | undefined) ?? [], context)
    if (problem !== undefined) throw newForbidden(about, role.metadata.name ?? '', problem)
    // An aggregation rule can collect any rules, so setting or changing one requires full authority.
    const aggregates =
      resource === 'clusterroles' && (hasAggregation(role) || (old !== undefined && hasAggregation(old)))
    if (aggregates && this.#missing(fullAuthority, context) !== undefined) {
      const why = 'must have cluster-admin privileges to use the aggregationRule'
      throw newForbidden(about, role.metadata.name ?? '', why)
    }
  }

  /**
   * Throws 403 unless the user has all permissions of the bound role, or the verb bind on it. Throws 404 when the role does not
   * exist.
   */
  async checkBinding(binding: MutableObject, old: MutableObject | undefined, context: StrategyContext): Promise<void> {
    const { user, info } = context.request
    if (user.groups.includes(mastersGroup)) return
    if (old && onlyCollectorFieldsChanged(binding, old)) return
    const roleRef = (binding['roleRef'] as RoleRef | undefined) ?? {}
    const { namespace } = context
    const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : roleRef.kind === 'Role' ? 'roles' : undefined
    if (resource !== undefined) {
      const group = roleRef.apiGroup ?? ''
      const bind = resourceAttributes(user, { verb: 'bind', group, resource, name: roleRef.name ?? '', namespace })
      if ((await this.#authorizer.authorize(bind)).allowed) return
    }

    await this.#catchUp(context)
    const about = { group: rbacGroup, resource: info.resource }
    const rules = this.#policy.rulesOf(roleRef, namespace)
    if (typeof rules === 'string') {
      // The error names the resource of the request instead of the missing role, as in kube-apiserver.
      if (resource !== undefined) throw newNotFound(about, roleRef.name ?? '')
      throw unclassifiedError(rules)
    }
    const problem = this.#missing(rules, context)
    if (problem !== undefined) throw newForbidden(about, binding.metadata.name ?? '', problem)
  }

  /** Waits until the policy includes all earlier writes. */
  async #catchUp({ request }: StrategyContext): Promise<void> {
    await this.#policy.caughtUp(await this.#store.revision(), request.request.signal)
  }

  /** Describes the rules that the user does not have; undefined when none is missing. */
  #missing(rules: readonly PolicyRule[], { request, namespace }: StrategyContext): string | undefined {
    const { user } = request
    const held = this.#rbac.policyRulesFor(user, namespace)
    let missing: Uncovered
    try {
      missing = uncoveredRules(held.rules, rules)
    } catch (error) {
      // Permissions that cannot be verified are not granted.
      if (error instanceof RulesTooComplexError) return error.message
      throw error
    }
    if (missing.rules.length === 0) return undefined
    const lines = [...new Set(compactRules(missing.rules).map(ruleText))].sort()
    if (missing.truncated) lines.push('... and more')
    const errors = held.errors.length === 0 ? '' : `; resolution errors: [${aggregateMessages(held.errors)}]`
    return `user ${goQuote(user.name)} (groups=${goStringList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${errors}`
  }
}

function hasAggregation(role: MutableObject): boolean {
  const rule = role['aggregationRule'] as { clusterRoleSelectors?: readonly unknown[] | undefined } | null | undefined
  return (rule?.clusterRoleSelectors?.length ?? 0) > 0
}

/** Whether only fields changed that the garbage collector writes: it may update roles that it could not grant. */
function onlyCollectorFieldsChanged(object: MutableObject, old: MutableObject): boolean {
  const without = ({ metadata, ...rest }: MutableObject): unknown => {
    const { ownerReferences: _o, finalizers: _f, managedFields: _m, resourceVersion: _r, ...meta } = metadata
    return { ...rest, metadata: meta }
  }
  return deepEqual(without(object), without(old))
}
