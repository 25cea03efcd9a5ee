import { annotationOf, fromTime } from '@kubewright/api'
import type { Pod } from '@kubewright/k8s'
import { isPodActive, isPodReady, maxRestarts, podReadySince } from './pod-state.ts'

/** The facts that decide between two pods. */
interface Candidate {
  readonly pod: Pod
  /** The number of related pods on the same node. */
  readonly crowd: number
  readonly now: number
}

/** How much speaks for keeping a pod. Of two pods, the one with the lower value is deleted first. */
type Merit = (candidate: Candidate) => number

const phaseMerit: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

/** The merits from the most important to the least important. The order is that of kube-controller-manager. */
const merits: readonly Merit[] = [
  ({ pod }) => Number(Boolean(pod.spec.nodeName)),
  ({ pod }) => phaseMerit[pod.status?.phase ?? ''] ?? 0,
  ({ pod }) => Number(isPodReady(pod)),
  ({ pod }) => deletionCost(pod),
  ({ crowd }) => -crowd,
  ({ pod, now }) => magnitude(podReadySince(pod), now),
  ({ pod }) => -maxRestarts(pod),
  ({ pod, now }) => magnitude(fromTime(pod.metadata.creationTimestamp), now),
]

/**
 * Sorts pods in the order in which a scale-down deletes them, least useful first. `related` are the pods of all replica sets of the same
 * owner: pods on nodes with many related pods come first. The order is total: the uid decides between pods that are equally useful.
 */
export function rankForDeletion(pods: readonly Pod[], related: readonly Pod[], now: number): Pod[] {
  const onNode = new Map<string, number>()
  for (const pod of related) {
    const { nodeName } = pod.spec
    if (isPodActive(pod) && nodeName) onNode.set(nodeName, (onNode.get(nodeName) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => {
    const candidate = { pod, crowd: onNode.get(pod.spec.nodeName ?? '') ?? 0, now }
    return { pod, values: merits.map((merit) => merit(candidate)) }
  })
  return ranked.sort(compare).map(({ pod }) => pod)
}

interface Ranked {
  readonly pod: Pod
  readonly values: readonly number[]
}

function compare(a: Ranked, b: Ranked): number {
  const decisive = a.values.findIndex((value, i) => value !== b.values[i])
  if (decisive >= 0) return a.values[decisive]! < b.values[decisive]! ? -1 : 1
  return a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1
}

/**
 * The order of magnitude of the time since `since`, so that pods of 50 and 60 minutes rank equally. It counts nanoseconds, like Go's
 * durations, so that the boundaries between magnitudes are the same. A pod without a time has the lowest.
 */
function magnitude(since: number | undefined, now: number): number {
  if (since === undefined) return Number.NEGATIVE_INFINITY
  return now > since ? Math.floor(Math.log2((now - since) * 1e6)) : -1
}

function deletionCost(pod: Pod): number {
  const text = annotationOf(pod, 'controller.kubernetes.io/pod-deletion-cost')
  return text !== undefined && /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0
}
