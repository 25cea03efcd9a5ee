import { findCondition, toTime } from '@kubewright/api'
import { type DeepReadonly, omitUndefined } from '@kubewright/base'
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'
import { omitZero } from '../workload/omit-zero.ts'
import {
  actualReplicas,
  availableReplicas,
  readyReplicas,
  rolloutLimits,
  specReplicas,
  wantedOf,
} from './rollout-limits.ts'

/** Input of {@link deploymentStatus}. */
export interface DeploymentFacts {
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
  /** Whether the condition Progressing is updated. False while the deployment is paused, scaled or deleted. */
  readonly judgesProgress: boolean
  readonly now: number
}

type Conditions = readonly Readonly<DeploymentCondition>[]

/** A deployment status, read or computed. */
export type StatusLike = DeepReadonly<DeploymentStatus>

/** Whether a progress deadline is set; the largest int32 means none. */
export function hasDeadline(deployment: Deployment): boolean {
  const { progressDeadlineSeconds } = deployment.spec
  return progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== 2 ** 31 - 1
}

/** Whether all pods are updated and available, and no old pod is left. */
export function isComplete(deployment: Deployment, status: StatusLike | undefined): boolean {
  const wanted = wantedOf(deployment)
  const { updatedReplicas = 0, replicas = 0, availableReplicas: available = 0, observedGeneration = 0 } = status ?? {}
  const all = updatedReplicas === wanted && replicas === wanted && available === wanted
  return all && observedGeneration >= deployment.metadata.generation
}

/** Creates a condition with the times set to now. */
export function deploymentCondition(
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
): DeploymentCondition {
  const time = toTime(now)
  return { type, status, lastUpdateTime: time, lastTransitionTime: time, reason, message }
}

/** Sets a condition. Returns the conditions unchanged when the type already has the same status and reason. */
export function withCondition(conditions: Conditions, condition: DeploymentCondition): Conditions {
  const current = findCondition(conditions, condition.type)
  if (current?.status === condition.status && current.reason === condition.reason) return conditions
  const since = current?.status === condition.status ? current.lastTransitionTime : undefined
  const stamped = since === undefined ? condition : { ...condition, lastTransitionTime: since }
  return [...without(conditions, condition.type), stamped]
}

/** Removes the conditions of a type. */
export const without = (conditions: Conditions, type: string): Conditions =>
  conditions.filter((condition) => condition.type !== type)

/** The condition for a deployment that was just paused or resumed; undefined when the status already reports it. */
export function pauseCondition(deployment: Deployment, now: number): DeploymentCondition | undefined {
  const current = findCondition(deployment.status?.conditions, 'Progressing')
  if (!hasDeadline(deployment) || current?.reason === 'ProgressDeadlineExceeded') return undefined
  const paused = deployment.spec.paused === true
  if (paused === (current?.reason === 'DeploymentPaused')) return undefined
  return paused
    ? deploymentCondition('Progressing', 'Unknown', 'DeploymentPaused', 'Deployment is paused', now)
    : deploymentCondition('Progressing', 'Unknown', 'DeploymentResumed', 'Deployment is resumed', now)
}

/** Computes the status from the replica sets. */
export function deploymentStatus(deployment: Deployment, facts: DeploymentFacts): DeploymentStatus {
  const { newSet, oldSets, now } = facts
  const all = newSet === undefined ? oldSets : [...oldSets, newSet]
  const available = availableReplicas(all)
  const enough = available >= wantedOf(deployment) - rolloutLimits(deployment).maxUnavailable
  const availability = enough
    ? deploymentCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', now)
    : deploymentCondition(
        'Available',
        'False',
        'MinimumReplicasUnavailable',
        'Deployment does not have minimum availability.',
        now,
      )
  const counts = {
    observedGeneration: deployment.metadata.generation,
    replicas: actualReplicas(all),
    updatedReplicas: actualReplicas(newSet === undefined ? [] : [newSet]),
    readyReplicas: readyReplicas(all),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, specReplicas(all) - available),
  }
  let conditions: Conditions = withCondition(deployment.status?.conditions ?? [], availability)
  if (facts.judgesProgress) {
    conditions = withProgress(deployment, counts, conditions, facts)
    const failure = replicaFailure(newSet, all)
    conditions = failure === undefined ? without(conditions, 'ReplicaFailure') : withCondition(conditions, failure)
  }
  return {
    ...omitZero<DeploymentStatus>({ ...counts, conditions: conditions as DeploymentCondition[] }),
    ...omitUndefined<DeploymentStatus>({
      terminatingReplicas: terminatingReplicas(all),
      collisionCount: deployment.status?.collisionCount,
    }),
  }
}

function withProgress(
  deployment: Deployment,
  status: StatusLike,
  conditions: Conditions,
  { newSet, now }: DeploymentFacts,
): Conditions {
  if (!hasDeadline(deployment)) return without(conditions, 'Progressing')
  const current = findCondition(conditions, 'Progressing')
  const settled = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable'
  if (settled) return conditions
  const subject =
    newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`
  const progress = (state: 'True' | 'False', reason: string, what: string): DeploymentCondition =>
    deploymentCondition('Progressing', state, reason, `${subject} ${what}`, now)
  if (isComplete(deployment, status)) {
    return withCondition(conditions, progress('True', 'NewReplicaSetAvailable', 'has successfully progressed.'))
  }
  if (hasProgressed(deployment.status, status)) {
    // Update the time even when Progressing was True already: the deadline counts from the last progress.
    const condition = progress('True', 'ReplicaSetUpdated', 'is progressing.')
    const since = current?.status === 'True' ? current.lastTransitionTime : undefined
    return [
      ...without(conditions, 'Progressing'),
      since === undefined ? condition : { ...condition, lastTransitionTime: since },
    ]
  }
  if (hasTimedOut(deployment, current, now)) {
    return withCondition(conditions, progress('False', 'ProgressDeadlineExceeded', 'has timed out progressing.'))
  }
  return conditions
}

function hasProgressed(before: StatusLike | undefined, now: StatusLike): boolean {
  const old = (status: StatusLike | undefined): number => (status?.replicas ?? 0) - (status?.updatedReplicas ?? 0)
  return (
    (now.updatedReplicas ?? 0) > (before?.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before?.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before?.availableReplicas ?? 0)
  )
}

function hasTimedOut(
  deployment: Deployment,
  progressing: Readonly<DeploymentCondition> | undefined,
  now: number,
): boolean {
  if (progressing === undefined || progressing.reason === 'NewReplicaSetAvailable') return false
  if (progressing.reason === 'ProgressDeadlineExceeded') return true
  return deadlineOf(deployment, progressing) < now
}

function deadlineOf(deployment: Deployment, progressing: Readonly<DeploymentCondition>): number {
  const since = knownTime(progressing.lastUpdateTime) ?? 0
  return since + (deployment.spec.progressDeadlineSeconds ?? 0) * 1000
}

/** The delay until the progress deadline must be checked, in milliseconds; undefined when no check is due. */
export function nextProgressCheck(deployment: Deployment, status: StatusLike, now: number): number | undefined {
  const progressing = findCondition(status.conditions, 'Progressing')
  if (!hasDeadline(deployment) || progressing === undefined || deployment.spec.paused === true) return undefined
  if (isComplete(deployment, status) || progressing.reason === 'ProgressDeadlineExceeded') return undefined
  // Times have a resolution of one second, so wait one second more to be past the deadline for certain.
  return Math.max(0, deadlineOf(deployment, progressing) - now) + 1000
}

function replicaFailure(newSet: ReplicaSet | undefined, all: readonly ReplicaSet[]): DeploymentCondition | undefined {
  for (const set of newSet === undefined ? all : [newSet, ...all]) {
    const failure = findCondition(set.status?.conditions, 'ReplicaFailure')
    if (failure === undefined) continue
    const time = failure.lastTransitionTime
    return { ...failure, ...(time === undefined ? {} : { lastUpdateTime: time }) }
  }
  return undefined
}

// One replica set that does not report the count makes the sum unknown, unless its controller has not observed it yet.
function terminatingReplicas(sets: readonly ReplicaSet[]): number | undefined {
  let total = 0
  for (const { status } of sets) {
    if (status?.terminatingReplicas !== undefined) total += status.terminatingReplicas
    else if ((status?.observedGeneration ?? 0) !== 0) return undefined
  }
  return total
}
