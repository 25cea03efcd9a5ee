import { scaledValue } from '@kubewright/api'
import type { Deployment, ReplicaSet } from '@kubewright/k8s'

/** How many pods the deployment wants. */
export const wantedOf = (object: Deployment | ReplicaSet): number => object.spec.replicas ?? 1

/** Whether new pods replace old ones little by little. */
export const isRolling = (deployment: Deployment): boolean =>
  (deployment.spec.strategy?.type ?? 'RollingUpdate') === 'RollingUpdate'

/** How far a roll-out may leave the number wanted, in both directions. */
export interface RolloutLimits {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

/**
 * The limits of a deployment as numbers of pods: percentages of surge are rounded up, those of unavailability down. When both come to
 * nothing one pod may be unavailable, because otherwise nothing could ever be replaced.
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

/** The sum of what the replica sets ask for. */
export const specReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, wantedOf)

/** The sum of the pods that the replica sets have. */
export const actualReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, (set) => set.status?.replicas)

/** The sum of the available pods of the replica sets. */
export const availableReplicas = (sets: readonly ReplicaSet[]): number =>
  sum(sets, (set) => set.status?.availableReplicas)

/** The sum of the ready pods of the replica sets. */
export const readyReplicas = (sets: readonly ReplicaSet[]): number => sum(sets, (set) => set.status?.readyReplicas)

function sum(sets: readonly ReplicaSet[], of: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (of(set) ?? 0), 0)
}
