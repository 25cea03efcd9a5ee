import { toTime } from '@kubewright/api'
import type { Pod, PodStatus } from '@kubewright/k8s'
import { matchesNode, untoleratedTaint } from '../workload/node-fit.ts'
import { hasPortConflict, type NodeLoad, type PlacedPod, placedPod } from './cluster-ledger.ts'

/** Why a node refuses to run a pod that was bound to it. */
export interface Rejection {
  readonly reason: string
  readonly message: string
}

const kubeletConditions: readonly string[] = [
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
]

/**
 * Checks whether a node can run a pod, as kubelets do before they start it: pods with `spec.nodeName` and bindings by other clients
 * bypass the scheduler. `load` may or may not contain the pod. As in kubelet/lifecycle/predicate.go, with its order and texts.
 */
export function rejectionOf(pod: Pod, load: NodeLoad): Rejection | undefined {
  const { node } = load
  const placed = load.pods.get(pod.metadata.uid) ?? placedPod(pod)
  const { os, tolerations } = pod.spec
  if ((pod.metadata.labels?.[osLabel] ?? 'linux') !== 'linux') {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
    return { reason: 'PodOSSelectorNodeLabelDoesNotMatch', message }
  }
  if (os !== undefined && os.name !== 'linux') {
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  }
  const lacking = lackingResource(placed, load)
  if (lacking !== undefined) return lacking
  if (!matchesNode(pod.spec, node)) {
    return failed('NodeAffinity', "node(s) didn't match Pod's node affinity/selector")
  }
  if (hasPortConflict(placed, placed.ports.length === 0 ? [] : othersOn(load, placed))) {
    return failed('NodePorts', "node(s) didn't have free ports for the requested pod ports")
  }
  if (untoleratedTaint(node.spec?.taints, tolerations, ['NoExecute'])) {
    return failed('TaintToleration', "node(s) had taints that the pod didn't tolerate")
  }
  return undefined
}

const othersOn = ({ pods }: NodeLoad, { uid }: PlacedPod): PlacedPod[] =>
  [...pods.values()].filter((other) => other.uid !== uid)

const osLabel = 'kubernetes.io/os'

const failed = (reason: string, text: string): Rejection => ({ reason, message: `Predicate ${reason} failed: ${text}` })

function lackingResource({ requests, uid }: PlacedPod, { allocatable, pods, used }: NodeLoad): Rejection | undefined {
  for (const name of ['pods', 'cpu', 'memory', 'ephemeral-storage', ...requests.keys()]) {
    const requested = requests.get(name) ?? 0n
    const capacity = allocatable.get(name)
    // Extended resources that the node does not have are resources of the cluster, which the node does not count.
    if (requested === 0n || (capacity === undefined && name.includes('/'))) continue
    const inUse = (used.get(name) ?? 0n) - (pods.has(uid) ? requested : 0n)
    if (inUse + requested <= (capacity ?? 0n)) continue
    const text = (amount: bigint): bigint => (name === 'cpu' ? amount : amount / 1000n)
    const amounts = `requested: ${text(requested)}, used: ${text(inUse)}, capacity: ${text(capacity ?? 0n)}`
    return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` }
  }
  return undefined
}

/** The status of a pod that a node has rejected. */
export function rejectedStatus(pod: Pod, { reason, message }: Rejection, now: number): PodStatus {
  const { generation } = pod.metadata
  const { conditions = [], qosClass, startTime } = pod.status ?? {}
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase: 'Failed',
    conditions: conditions.filter(({ type }) => !kubeletConditions.includes(type)),
    reason,
    message: `Pod was rejected: ${message}`,
    startTime: startTime ?? toTime(now),
    ...(qosClass === undefined ? {} : { qosClass }),
  } as PodStatus
}
