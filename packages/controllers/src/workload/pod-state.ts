import { findCondition } from '@kubewright/api'
import type { Pod } from '@kubewright/k8s'
import { knownTime } from './known-time.ts'

/** Whether the pod is in the phase Succeeded or Failed. */
export function isPodTerminal(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Whether the pod counts as a replica: neither finished nor being deleted. */
export function isPodActive(pod: Pod): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp === undefined
}

/** Whether the pod is being deleted and has not finished yet. */
export function isPodTerminating(pod: Pod): boolean {
  return !isPodTerminal(pod) && pod.metadata.deletionTimestamp !== undefined
}

/** Whether the pod's condition Ready is True. */
export function isPodReady(pod: Pod): boolean {
  return findCondition(pod.status?.conditions, 'Ready')?.status === 'True'
}

/**
 * The time since which the pod is ready, in epoch milliseconds; undefined when it is not ready or the condition has no
 * time.
 */
export function podReadySince(pod: Pod): number | undefined {
  const ready = findCondition(pod.status?.conditions, 'Ready')
  return ready?.status === 'True' ? knownTime(ready.lastTransitionTime) : undefined
}

/** The delay until the pod is available, in milliseconds: 0 when it already is, undefined when it is not ready. */
function availableIn(pod: Pod, minReadySeconds: number, now: number): number | undefined {
  if (!isPodReady(pod)) return undefined
  if (minReadySeconds === 0) return 0
  const since = podReadySince(pod)
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1000 - now)
}

/** Whether the pod has been ready for at least `minReadySeconds`. */
export function isPodAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return availableIn(pod, minReadySeconds, now) === 0
}

/** The delay until the next of the pods becomes available, in milliseconds; undefined when none is about to. */
export function nextAvailability(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  let next: number | undefined
  for (const pod of pods) {
    const wait = availableIn(pod, minReadySeconds, now)
    if (wait !== undefined && wait > 0 && (next === undefined || wait < next)) next = wait
  }
  return next
}

/** The highest restart count of the pod's containers. */
export function maxRestarts(pod: Pod): number {
  return Math.max(0, ...(pod.status?.containerStatuses ?? []).map((container) => container.restartCount))
}
