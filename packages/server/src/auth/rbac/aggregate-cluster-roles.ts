import { isNotFound, type LabelSelectorLike, selectorFrom } from '@kubewright/api'
import { deepEqual, type Logger } from '@kubewright/base'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { SystemWriter } from '../../verbs/system-writer.ts'
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
  if (!resource) throw new Error('Cannot aggregate ClusterRoles: the server does not serve clusterroles')
  const cache = await parts.registry.feed.cache(resource.storage.prefix)
  const stop = new AbortController()

  const reconcile = async (stored: StoredObject, all: readonly StoredObject[]): Promise<void> => {
    const rules = aggregatedRules(stored.object as MutableObject, all)
    if (deepEqual(stored.object['rules'] ?? null, rules)) return
    const { name = '' } = stored.object.metadata
    // Applies nothing when there are no rules, so that rules of other field managers stay.
    const fields = (): Record<string, unknown> => (rules === null ? {} : { rules })
    await parts.writer.apply({ resource, name }, fields, manager)
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const changed = cache.changed(stop.signal)
      const all = cache.list(cache.prefix)
      for (const stored of all) {
        if (!stored.object['aggregationRule']) continue
        try {
          await reconcile(stored, all)
        } catch (error) {
          // A deleted role needs no update. After other errors the next change retries.
          if (!isNotFound(error))
            parts.log.error(error, 'Failed to aggregate a ClusterRole', { name: stored.object.metadata.name })
        }
      }
      await changed
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}

/** The distinct rules of all selected roles in the order of selectors and names, or null when there are none. */
export function aggregatedRules(role: MutableObject, all: readonly StoredObject[]): PolicyRule[] | null {
  const { clusterRoleSelectors = [] } = role['aggregationRule'] as { clusterRoleSelectors?: LabelSelectorLike[] }
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
