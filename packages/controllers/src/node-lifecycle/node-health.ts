import { findCondition, toTime } from '@kubewright/api'
import type { Node, NodeCondition } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'

/** The grace periods of node health, in milliseconds. */
export const gracePeriods = {
  /** How long a node that has reported may be silent: kube-controller-manager's --node-monitor-grace-period. */
  monitor: 50_000,
  /** How long a new node may take until its first report: --node-startup-grace-period. */
  startup: 60_000,
} as const

// Leases carry the time of the node's clock, which may be wrong. A renewal counts as at most this old when it is first
// seen, so that a node that renews every 10 seconds is never lost, whatever its clock says.
const oldestRenewal = 30_000

/** What the controller remembers of a node between two looks at it. */
export interface NodeHealth {
  readonly uid: string
  /** The last sign of life, by the controller's clock. */
  readonly probe: number
  /** The heartbeat time of the Ready condition that was seen; undefined when there was no such condition. */
  readonly heartbeat: string | undefined
  /** The time of the Lease's renewal that was seen. */
  readonly renewed: number | undefined
}

/** Updates the health of a node with its current conditions and Lease. As tryUpdateNodeHealth in pkg/controller/nodelifecycle. */
export function observeNode(
  before: NodeHealth | undefined,
  node: Node,
  renewTime: string | undefined,
  now: number,
): NodeHealth {
  const { uid, creationTimestamp } = node.metadata
  const known = before?.uid === uid ? before : undefined
  const ready = findCondition(node.status?.conditions, 'Ready') as NodeCondition | undefined
  // Unknown is the controller's own verdict, not a report of the node.
  const heartbeat = ready === undefined ? undefined : (ready.lastHeartbeatTime ?? '')
  let probe = known?.probe ?? (ready === undefined ? (knownTime(creationTimestamp) ?? now) : now)
  if (known !== undefined && heartbeat !== undefined && heartbeat !== known.heartbeat) probe = now
  const renewed = renewTime === undefined ? known?.renewed : Date.parse(renewTime)
  if (renewed !== undefined && renewed > (known?.renewed ?? Number.NEGATIVE_INFINITY)) {
    probe = Math.max(probe, Math.min(now, Math.max(renewed, now - oldestRenewal)))
  }
  return { uid, probe, heartbeat, renewed }
}

/** When the node counts as lost unless it gives a sign of life, in epoch milliseconds. */
export function lostAt(node: Node, { probe }: NodeHealth): number {
  const reports = findCondition(node.status?.conditions, 'Ready') !== undefined
  return probe + (reports ? gracePeriods.monitor : gracePeriods.startup)
}

// NetworkUnavailable is not among them: the control plane maintains it, not the node.
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

/** The conditions of a lost node. Undefined when the node has them already. */
export function lostConditions(node: Node, now: number): NodeCondition[] | undefined {
  const current = (node.status?.conditions ?? []) as readonly NodeCondition[]
  if (findCondition(current, 'Ready')?.status === 'Unknown') return undefined
  const lastTransitionTime = toTime(now)
  const changed = current.map((condition): NodeCondition => {
    if (!reported.some((type) => type === condition.type) || condition.status === 'Unknown') return condition
    const message = 'Kubelet stopped posting node status.'
    return { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown', message, lastTransitionTime }
  })
  const missing = reported
    .filter((type) => findCondition(current, type) === undefined)
    .map(
      (type): NodeCondition => ({
        type,
        status: 'Unknown',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: node.metadata.creationTimestamp,
        lastTransitionTime,
      }),
    )
  return [...changed, ...missing]
}
