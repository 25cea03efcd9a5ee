import { toTime } from '@kubewright/api'
import type { Node } from '@kubewright/k8s'

type NodeTaint = NonNullable<NonNullable<Node['spec']>['taints']>[number]

const prefix = 'node.kubernetes.io/'

/** The taint for each condition and status. */
const meanings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
  PIDPressure: { True: 'pid-pressure' },
}

const owned = new Set([...Object.values(meanings).flatMap((by) => Object.values(by)), 'unschedulable'])
/** The taints that also evict running pods. */
const evicting = new Set(['not-ready', 'unreachable'])

/**
 * Whether pods may be evicted from a node: `yes`; `later`, when evicting taints are not added yet; `no`, when evicting
 * taints are removed.
 */
export type Evictions = 'yes' | 'later' | 'no'

/**
 * The taints that a node should have according to its conditions and whether it is cordoned. Taints of other managers
 * stay unchanged. Undefined when the node has the right taints already.
 */
export function planTaints(node: Node, now: number, evictions: Evictions = 'yes'): NodeTaint[] | undefined {
  const current = node.spec?.taints ?? []
  const wanted = new Map<string, NodeTaint>()
  const want = (name: string, effect: NodeTaint['effect']): void => {
    const taint = { key: `${prefix}${name}`, effect, timeAdded: toTime(now) }
    wanted.set(idOf(taint), taint)
  }
  for (const { type, status } of node.status?.conditions ?? []) {
    const name = meanings[type]?.[status]
    if (name === undefined) continue
    want(name, 'NoSchedule')
    if (!evicting.has(name) || evictions === 'no') continue
    // A node that pods are evicted from already changes between not ready and unreachable at once.
    if (evictions === 'yes' || current.some((taint) => taint.effect === 'NoExecute' && isOwn(taint))) {
      want(name, 'NoExecute')
    }
  }
  if (node.spec?.unschedulable) want('unschedulable', 'NoSchedule')
  const kept = current.filter((taint) => !isOwn(taint) || wanted.has(idOf(taint)))
  const missing = [...wanted.values()].filter((taint) => !current.some((known) => idOf(known) === idOf(taint)))
  return kept.length === current.length && missing.length === 0 ? undefined : [...kept, ...missing]
}

const idOf = ({ key, effect }: NodeTaint): string => `${key}:${effect}`

function isOwn({ key, effect }: NodeTaint): boolean {
  const name = key.startsWith(prefix) ? key.slice(prefix.length) : ''
  return effect === 'NoExecute' ? evicting.has(name) : effect === 'NoSchedule' && owned.has(name)
}
