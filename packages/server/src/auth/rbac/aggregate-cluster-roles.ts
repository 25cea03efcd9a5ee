import { type LabelSelectorLike, selectorFrom } from '@kubewright/api'
import { deepEqual, KubewrightError, type Logger } from '@kubewright/base'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { reconcileCached } from '../../verbs/reconcile-cached.ts'
import type { SystemWriter } from '../../verbs/write/system-writer.ts'
import type { PolicyRule } from './policy-rule.ts'
import { rbacGroup } from './rbac-policy.ts'

const manager = 'clusterrole-aggregation-controller'

/** The parts of the server that {@link startClusterRoleAggregation} uses. */
export interface ClusterRoleAggregationParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly log: Logger
}

/**
 * Keeps the rules of aggregated ClusterRoles equal to the rules of the roles that they select, until disposed. In other clusters
 * kube-controller-manager does this; a server without controllers does not need it.
 */
export async function startClusterRoleAggregation(parts: ClusterRoleAggregationParts): Promise<AsyncDisposable> {
  const resource = parts.resources.find(rbacGroup, 'v1', 'clusterroles')
  if (!resource)
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      'Cannot aggregate ClusterRoles: the server does not serve clusterroles',
    )
  const reconcile = async ({ object }: StoredObject, all: readonly StoredObject[]): Promise<void> => {
    if (!object['aggregationRule']) return
    const rules = aggregatedRules(object as MutableObject, all)
    if (deepEqual(object['rules'] ?? null, rules)) return
    // Applies nothing when there are no rules, so that rules of other field managers stay.
    const fields = (): Record<string, unknown> => (rules === null ? {} : { rules })
    await parts.writer.apply({ resource, name: object.metadata.name ?? '' }, fields, manager)
  }
  return reconcileCached(parts, { resource, reconcile, failure: 'Failed to aggregate a ClusterRole' })
}

/** The distinct rules of all selected roles in the order of selectors and names, or null when there are none. */
export function aggregatedRules(role: MutableObject, all: readonly StoredObject[]): PolicyRule[] | null {
  const { clusterRoleSelectors = [] } = role['aggregationRule'] as {
    clusterRoleSelectors?: LabelSelectorLike[] | undefined
  }
  const rules: PolicyRule[] = []
  for (const labelSelector of clusterRoleSelectors) {
    const selector = selectorFrom(labelSelector)
    for (const { object } of all) {
      if (object.metadata.name === role.metadata.name || !selector.matches(object.metadata.labels ?? {})) continue
      for (const rule of (object['rules'] as PolicyRule[] | null | undefined) ?? []) {
        if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule)
      }
    }
  }
  return rules.length === 0 ? null : rules
}
