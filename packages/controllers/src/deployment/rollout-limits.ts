import { scaledValue } from '@kubewright/api'
import type { Deployment, ReplicaSet } from '@kubewright/k8s'

/** The desired number of pods. */
export const wantedOf = (object: Deployment | ReplicaSet): number => object.spec.replicas ?? 1

/** Whether the strategy is RollingUpdate. */
export const isRolling = (deployment: Deployment): boolean =>
  (deployment.spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'

/** How far the number of pods may deviate from the desired number during a roll-out, in both directions. */
export interface RolloutLimits {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

/**
 * The limits of a deployment as numbers of pods. Percentages are rounded up for surge and down for unavailability. When
 * both are 0, one pod may be unavailable, because otherwise no pod could ever be replaced.
 */
export function rolloutLimits(deployment: Deployment): RolloutLimits {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 }
  const wanted = wantedOf(deployment)
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec.strategy?.rollingUpdate ?? {}
  const surge = scaledValue(maxSurge, wanted, true)
  const unavailable = scaledValue(maxUnavailable, wanted, false)
  const atLeastOne = surge === 0 && unavailable === 0 ? 1 : unavailable
  return { maxSurge: surge, maxUnavailable: Math.min(atLeastOne, wanted) }
}

/** The sum of the replica sets' desired pods. */
export const specReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, wantedOf)

/** The sum of the replica sets' existing pods. */
export const actualReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, (set) => set.status?.replicas)

/** The sum of the replica sets' available pods. */
export const availableReplicas = (sets: readonly ReplicaSet[]): number =>
  sum(sets, (set) => set.status?.availableReplicas)

/** The sum of the replica sets' ready pods. */
export const readyReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, (set) => set.status?.readyReplicas)

function sum(sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (of(set) ?? 0), 0)
}
