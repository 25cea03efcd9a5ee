import { type Selector, selectorFrom, toTime } from '@kubewright/api'
import { errorText, omitUndefined } from '@kubewright/base'
import type { Pod } from '@kubewright/k8s'
import { omitZero } from '../workload/omit-zero.ts'
import { isPodAvailable, isPodReady } from '../workload/pod-state.ts'

/** A condition of a replica set or replication controller. */
export interface ReplicaCondition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** The common status of replica sets and replication controllers. */
export interface ReplicaStatus {
  readonly replicas: number
  readonly fullyLabeledReplicas?: number | undefined
  readonly readyReplicas?: number | undefined
  readonly availableReplicas?: number | undefined
  readonly terminatingReplicas?: number | undefined
  readonly observedGeneration?: number | undefined
  readonly conditions?: readonly ReplicaCondition[] | undefined
}

/** Input of {@link replicaStatus}. */
export interface ReplicaFacts {
  readonly generation: number
  readonly wanted: number
  readonly minReadySeconds: number
  readonly templateLabels: Readonly<Record<string, string>>
  /** The pods that count as replicas. */
  readonly active: readonly Pod[]
  /** The number of terminating pods; undefined when the kind does not report it. */
  readonly terminating: number | undefined
  /** The error with which creating or deleting pods failed, if any. */
  readonly failure: unknown
  readonly now: number
}

/** Computes the status. */
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
