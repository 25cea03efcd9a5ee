import type { Pod, StatefulSet, StatefulSetStatus } from '@kubewright/k8s'
import { omitZero } from '../workload/omit-zero.ts'
import { isPodAvailable } from '../workload/pod-state.ts'
import { isRunningAndReady, type StatefulFacts } from './plan-stateful-set.ts'
import { revisionLabel } from './stateful-pod.ts'

/** Computes the status from the set's pods. `replaced` are pods that this reconcile deletes for an update. */
export function statefulSetStatus(
  facts: StatefulFacts,
  collisionCount: number,
  replaced: ReadonlySet<Pod> = new Set(),
): StatefulSetStatus {
  const { set, pods, currentRevision, updateRevision, now } = facts
  const minReady = set.spec.minReadySeconds ?? 0
  const staying = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !replaced.has(pod))
  const ofRevision = (name: string): number =>
    staying.filter((pod) => pod.metadata.labels?.[revisionLabel] === name).length
  const ready = pods.filter(isRunningAndReady)
  const counts = {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isPodAvailable(pod, minReady, now)).length,
    updatedReplicas: ofRevision(updateRevision),
  }
  const done = isUpdated(set, counts)
  return {
    ...omitZero<Omit<StatefulSetStatus, 'replicas'>>({
      observedGeneration: set.metadata.generation,
      readyReplicas: counts.readyReplicas,
      currentReplicas: done ? counts.updatedReplicas : ofRevision(currentRevision),
      updatedReplicas: counts.updatedReplicas,
      currentRevision: done ? updateRevision : currentRevision,
      updateRevision,
    }),
    replicas: counts.replicas,
    availableReplicas: counts.availableReplicas,
    collisionCount,
    ...(set.status?.conditions
      ? { conditions: set.status.conditions as NonNullable<StatefulSetStatus['conditions']> }
      : {}),
  }
}

// Whether the update is complete, so that the update revision becomes the current one.
function isUpdated(
  set: StatefulSet,
  counts: { readonly replicas: number; readonly readyReplicas: number; readonly updatedReplicas: number },
): boolean {
  const wanted = set.spec.replicas ?? 1
  const rolling = (set.spec.updateStrategy?.type ?? 'RollingUpdate') === 'RollingUpdate'
  return rolling && [counts.replicas, counts.readyReplicas, counts.updatedReplicas].every((count) => count === wanted)
}
