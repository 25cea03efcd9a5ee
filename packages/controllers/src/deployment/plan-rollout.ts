import { annotationOf } from '@kubewright/api'
import type { Deployment, ReplicaSet } from '@kubewright/k8s'
import { byAge, newSetReplicas } from './new-replica-set.ts'
import { desiredReplicasAnnotation, maxReplicasAnnotation, revisionOf } from './revisions.ts'
import {
  actualReplicas,
  availableReplicas,
  isRolling,
  rolloutLimits,
  specReplicas,
  wantedOf,
} from './rollout-limits.ts'

/** A replica set and its new size. */
export interface ScaleStep {
  readonly set: ReplicaSet
  readonly replicas: number
}

const isActive = (set: ReplicaSet): boolean => wantedOf(set) > 0

/**
 * Whether the deployment was scaled since its replica sets were last scaled. If so, scaling comes before the roll-out.
 */
export function isScalingEvent(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  return sets.some((set) => {
    const desired = countAnnotation(set, desiredReplicasAnnotation)
    return isActive(set) && desired !== undefined && desired !== wantedOf(deployment)
  })
}

/**
 * Plans the next step of a rolling update. The new replica set grows as far as the surge allows; when it cannot grow,
 * the old ones shrink as far as availability allows, unavailable pods first. Each step moves in one direction only, so
 * that the next step sees its result.
 */
export function planRolling(deployment: Deployment, newSet: ReplicaSet, oldSets: readonly ReplicaSet[]): ScaleStep[] {
  const wanted = wantedOf(deployment)
  const current = wantedOf(newSet)
  if (current > wanted) return [{ set: newSet, replicas: wanted }]
  if (current < wanted) {
    const replicas = newSetReplicas(deployment, oldSets, current)
    if (replicas !== current) return [{ set: newSet, replicas }]
  }
  return planScaleDown(deployment, newSet, oldSets.filter(isActive))
}

function planScaleDown(deployment: Deployment, newSet: ReplicaSet, oldSets: readonly ReplicaSet[]): ScaleStep[] {
  const minAvailable = wantedOf(deployment) - rolloutLimits(deployment).maxUnavailable
  const newUnavailable = wantedOf(newSet) - (newSet.status?.availableReplicas ?? 0)
  const sizes = new Map(byAge(oldSets).map((set) => [set, wantedOf(set)]))
  let spare = specReplicas(oldSets) + wantedOf(newSet) - minAvailable - newUnavailable
  if (spare <= 0) return []
  // Unavailable pods can be removed without reducing availability.
  for (const [set, size] of sizes) {
    const unavailable = Math.min(spare, size - (set.status?.availableReplicas ?? 0))
    if (unavailable <= 0) continue
    sizes.set(set, size - unavailable)
    spare -= unavailable
  }
  // Remove available pods as long as the minimum stays available.
  let excess = availableReplicas([...oldSets, newSet]) - minAvailable
  for (const [set, size] of sizes) {
    const count = Math.min(size, Math.max(0, excess))
    sizes.set(set, size - count)
    excess -= count
  }
  return [...sizes].filter(([set, size]) => size !== wantedOf(set)).map(([set, replicas]) => ({ set, replicas }))
}

/** The next step of a deployment with the strategy Recreate. */
export interface RecreateStep {
  readonly scale: readonly ScaleStep[]
  /** Whether the new replica set may be created and scaled to its full size. */
  readonly mayStart: boolean
}

/** Plans the next step of the strategy Recreate, which never runs old and new pods at the same time. */
export function planRecreate(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
  oldPodsRunning: boolean,
): RecreateStep {
  const shrinking = oldSets.filter(isActive).map((set) => ({ set, replicas: 0 }))
  if (shrinking.length > 0) return { scale: shrinking, mayStart: false }
  if (oldPodsRunning || actualReplicas(oldSets) > 0) return { scale: [], mayStart: false }
  const wanted = wantedOf(deployment)
  if (newSet === undefined || wantedOf(newSet) === wanted) return { scale: [], mayStart: true }
  return { scale: [{ set: newSet, replicas: wanted }], mayStart: true }
}

/**
 * Distributes the new size of a deployment that was scaled during a roll-out, or while it was paused: in proportion to
 * the sizes of its replica sets, so that scaling does not spread a bad template faster.
 */
export function planProportional(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  oldSets: readonly ReplicaSet[],
): ScaleStep[] {
  const wanted = wantedOf(deployment)
  const all = newSet === undefined ? [...oldSets] : [...oldSets, newSet]
  const active = all.filter(isActive)
  if (active.length <= 1) {
    const only = active[0] ?? newSet ?? byAge(oldSets).at(-1)
    return only === undefined || wantedOf(only) === wanted ? [] : [{ set: only, replicas: wanted }]
  }
  if (newSet !== undefined && isSaturated(deployment, newSet)) {
    return oldSets.filter(isActive).map((set) => ({ set, replicas: 0 }))
  }
  if (!isRolling(deployment)) return []
  const allowed = wanted > 0 ? wanted + rolloutLimits(deployment).maxSurge : 0
  const toAdd = allowed - specReplicas(active)
  const ordered = bySize(active, toAdd > 0)
  let left = toAdd
  const steps = ordered.map((set) => {
    const share = proportionOf(deployment, set, left, toAdd)
    left -= share
    return { set, replicas: wantedOf(set) + share }
  })
  // The rounding remainder goes to the largest set. Sets that keep their size are included, because their annotations
  // change.
  return steps.map((step, index) => (index === 0 ? { ...step, replicas: Math.max(0, step.replicas + left) } : step))
}

function proportionOf(deployment: Deployment, set: ReplicaSet, left: number, toAdd: number): number {
  if (toAdd === 0 || left === 0) return 0
  const fraction = fractionOf(deployment, set)
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left)
}

function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  const size = wantedOf(set)
  const wanted = wantedOf(deployment)
  if (wanted === 0) return -size
  const before = countAnnotation(set, maxReplicasAnnotation) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  return Math.round((size * (wanted + rolloutLimits(deployment).maxSurge)) / before) - size
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = wantedOf(deployment)
  const desired = countAnnotation(set, desiredReplicasAnnotation)
  return wantedOf(set) === wanted && desired === wanted && set.status?.availableReplicas === wanted
}

// Largest first; equal sizes: newest first when growing, oldest first when shrinking.
function bySize(sets: readonly ReplicaSet[], newestFirst: boolean): ReplicaSet[] {
  const aged = newestFirst ? byAge(sets).reverse() : byAge(sets)
  return aged.sort((a, b) => wantedOf(b) - wantedOf(a))
}

function countAnnotation(set: ReplicaSet, key: string): number | undefined {
  const text = annotationOf(set, key)
  return text !== undefined && /^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : undefined
}

/** The old replica sets to delete beyond the history limit: only those without pods, lowest revisions first. */
export function planHistory(deployment: Deployment, oldSets: readonly ReplicaSet[]): ReplicaSet[] {
  const limit = deployment.spec.revisionHistoryLimit ?? 10
  const alive = byAge(oldSets.filter((set) => set.metadata.deletionTimestamp === undefined))
  const excess = alive.length - limit
  if (limit === 2 ** 31 - 1 || excess <= 0) return []
  const byRevision = alive.sort(byRevisionNumber)
  return byRevision.slice(0, excess).filter((set) => {
    const { replicas = 0, observedGeneration = 0 } = set.status ?? {}
    return replicas === 0 && wantedOf(set) === 0 && set.metadata.generation <= observedGeneration
  })
}

function byRevisionNumber(a: ReplicaSet, b: ReplicaSet): number {
  const [left, right] = [revisionOf(a) ?? 0n, revisionOf(b) ?? 0n]
  return left < right ? -1 : left > right ? 1 : 0
}
