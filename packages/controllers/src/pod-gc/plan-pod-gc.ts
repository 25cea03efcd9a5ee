import type { Node, Pod } from '@kubewright/k8s'
import { isPodTerminal } from '../workload/pod-state.ts'

/** A pod to delete, because no node or owner will. */
export interface Leftover {
  readonly pod: Pod
  /** `node-gone` must be confirmed with the server, because the node may be missing from the cache only. */
  readonly why: 'terminated' | 'out-of-service' | 'node-gone' | 'unscheduled'
}

/** Input of {@link planPodGc}. */
export interface PodGcFacts {
  readonly pods: readonly Pod[]
  readonly nodes: readonly Node[]
  /** The number of finished pods to keep; 0 means unlimited. */
  readonly terminatedThreshold: number
}

/** Selects the pods to delete: finished ones beyond the threshold, and those that no node will ever finish. */
export function planPodGc({ pods, nodes, terminatedThreshold }: PodGcFacts): readonly Leftover[] {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]))
  const leftovers: Leftover[] = []
  const finished = pods.filter(isPodTerminal)
  if (terminatedThreshold > 0 && finished.length > terminatedThreshold) {
    const excess = [...finished].sort(evictedThenOldest).slice(0, finished.length - terminatedThreshold)
    for (const pod of excess) leftovers.push({ pod, why: 'terminated' })
  }
  for (const pod of pods) {
    const going = pod.metadata.deletionTimestamp !== undefined
    const { nodeName } = pod.spec
    if (!nodeName) {
      if (going) leftovers.push({ pod, why: 'unscheduled' })
      continue
    }
    const node = byName.get(nodeName)
    if (node === undefined) leftovers.push({ pod, why: 'node-gone' })
    else if (going && isOutOfService(node)) leftovers.push({ pod, why: 'out-of-service' })
  }
  return leftovers
}

function isOutOfService(node: Node): boolean {
  const ready = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
  return !ready && (node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') ?? false)
}

function evictedThenOldest(a: Pod, b: Pod): number {
  const rank = ({ metadata, status }: Pod): string =>
    `${status?.phase === 'Failed' && status.reason === 'Evicted' ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`
  return rank(a) < rank(b) ? -1 : 1
}
