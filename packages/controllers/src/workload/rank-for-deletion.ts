import { annotationOf, fromTime } from '@kubewright/api'
import type { Pod } from '@kubewright/k8s'
import { isPodActive, isPodReady, maxRestarts, podReadySince } from './pod-state.ts'

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/**
 * Sorts pods in the order in which a scale-down deletes them, least useful first. `related` are the pods of all replica
 * sets of the same owner: pods on nodes with many related pods come first.
 */
export function rankForDeletion(pods: readonly Pod[], related: readonly Pod[], now: number): Pod[] {
  const onNode = new Map<string, number>()
  for (const pod of related) {
    if (isPodActive(pod) && pod.spec.nodeName) onNode.set(pod.spec.nodeName, (onNode.get(pod.spec.nodeName) ?? 0) + 1)
  }
  return [...pods].sort((a, b) => compare(a, b, onNode, now))
}

function compare(a: Pod, b: Pod, onNode: ReadonlyMap<string, number>, now: number): number {
  const assigned = Number(Boolean(a.spec.nodeName)) - Number(Boolean(b.spec.nodeName))
  if (assigned !== 0) return assigned
  const phase = (phaseRank[a.status?.phase ?? ''] ?? 0) - (phaseRank[b.status?.phase ?? ''] ?? 0)
  if (phase !== 0) return phase
  const ready = Number(isPodReady(a)) - Number(isPodReady(b))
  if (ready !== 0) return ready
  const cost = deletionCost(a) - deletionCost(b)
  if (cost !== 0) return cost
  const crowd = (onNode.get(b.spec.nodeName ?? '') ?? 0) - (onNode.get(a.spec.nodeName ?? '') ?? 0)
  if (crowd !== 0) return crowd
  const since = younger(podReadySince(a), podReadySince(b), now)
  if (since !== 0) return since
  const restarts = maxRestarts(b) - maxRestarts(a)
  if (restarts !== 0) return restarts
  const age = younger(fromTime(a.metadata.creationTimestamp), fromTime(b.metadata.creationTimestamp), now)
  if (age !== 0) return age
  return a.metadata.uid < b.metadata.uid ? -1 : 1
}

// Ages are compared by order of magnitude only, so that pods of 50 and 60 minutes rank equally.
function younger(a: number | undefined, b: number | undefined, now: number): number {
  if (a === b) return 0
  if (a === undefined) return -1
  if (b === undefined) return 1
  return magnitude(now - a) - magnitude(now - b)
}

// In nanoseconds, like Go's durations, so that the boundaries between magnitudes are the same.
const magnitude = (millis: number): number => (millis > 0 ? Math.floor(Math.log2(millis * 1e6)) : -1)

function deletionCost(pod: Pod): number {
  const text = annotationOf(pod, 'controller.kubernetes.io/pod-deletion-cost')
  return text !== undefined && /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0
}
