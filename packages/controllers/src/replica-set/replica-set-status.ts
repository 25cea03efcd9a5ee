import { type Selector, selectorFrom, toTime } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import type { Pod } from '@kubewright/k8s'
import { omitUndefined, omitZero } from '../workload/omit-zero.ts'
import { isPodAvailable, isPodReady } from '../workload/pod-state.ts'

/** A condition as these controllers write it. */
export interface ReplicaCondition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/** The status that replica sets and replication controllers have in common. */
export interface ReplicaStatus {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly terminatingReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly ReplicaCondition[]
}

/** What the status is worked out from. */
export interface ReplicaFacts {
  readonly generation: number
  readonly wanted: number
  readonly minReadySeconds: number
  readonly templateLabels: Readonly<Record<string, string>>
  /** Those that count as replicas. */
  readonly active: readonly Pod[]
  /** How many are being deleted; undefined where the kind does not say so. */
  readonly terminating: number | undefined
  /** Why pods could not be created or deleted, if so. */
  readonly failure: unknown
  readonly now: number
}

/** The status that the facts amount to. */
export function replicaStatus(current: ReplicaStatus | undefined, facts: ReplicaFacts): ReplicaStatus {
  const { active, minReadySeconds, now, terminating } = facts
  const template: Selector = selectorFrom({ matchLabels: facts.templateLabels })
  const counts = omitZero<Omit<ReplicaStatus, 'replicas' | 'terminatingReplicas'>>({
    fullyLabeledReplicas: active.filter((pod) => template.matches(pod.metadata.labels)).length,
    readyReplicas: active.filter(isPodReady).length,
    availableReplicas: active.filter((pod) => isPodAvailable(pod, minReadySeconds, now)).length,
    observedGeneration: facts.generation,
    conditions: conditionsOf(current, facts),
  })
  return { replicas: active.length, ...counts, ...omitUndefined({ terminatingReplicas: terminating }) }
}

function conditionsOf(current: ReplicaStatus | undefined, facts: ReplicaFacts): readonly ReplicaCondition[] {
  const conditions = current?.conditions ?? []
  const failed = conditions.some(({ type }) => type === 'ReplicaFailure')
  if (facts.failure === undefined) return conditions.filter(({ type }) => type !== 'ReplicaFailure')
  if (failed) return conditions
  const difference = facts.active.length - facts.wanted
  const failure: ReplicaCondition = {
    type: 'ReplicaFailure',
    status: 'True',
    lastTransitionTime: toTime(facts.now),
    reason: difference < 0 ? 'FailedCreate' : 'FailedDelete',
    message: errorText(facts.failure),
  }
  return [...conditions, failure]
}
