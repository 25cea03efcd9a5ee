import { findCondition, isConflict, isNotFound, toTime } from '@kubewright/api'
import { Binding, Node, Pod, type PodCondition } from '@kubewright/k8s'
import { changed, type KeyContext, type KeyController, kindSource, or } from '@kubewright/runtime'
import { defineBuiltin } from '../workload/define-builtin.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { inParallel } from '../workload/slow-start.ts'
import { nodeLoads, place, schedulePod } from './schedule-pod.ts'

// All waiting pods are placed in one go: so the nodes are counted once, and no two passes can disagree.
const everything = 'pods'

/**
 * Binds pods to nodes: node selectors and affinity, taints, resources, host ports and required affinity between pods count.
 * Priorities, preemption, topology spread and volumes do not.
 */
export const podScheduler: KeyController = /* @__PURE__ */ defineBuiltin({
  name: 'kube-scheduler',
  kind: Pod,
  sources: [
    // Pods that wait, and pods that give room back.
    kindSource(Pod, { map: (pod) => (isWaiting(pod) || isPodTerminal(pod) || isGoing(pod) ? [everything] : []) }),
    kindSource(Node, {
      predicates: [or(changed('metadata.labels', 'spec'), changed('status.allocatable'))],
      map: () => [everything],
    }),
  ],
  start: ({ clock }) => {
    const assumed = new Map<string, string>()
    return (_, context) => scheduleAll(context, assumed, clock.now())
  },
})

const isGoing = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined

function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec
  return !nodeName && schedulerName === 'default-scheduler' && schedulingGates.length === 0 && !isGoing(pod)
}

async function scheduleAll(context: KeyContext, assumed: Map<string, string>, now: number): Promise<void> {
  const { client } = context
  const pods = await client.list(Pod, { namespace: '' })
  const waiting = pods.filter((pod) => isWaiting(pod) && !isPodTerminal(pod))
  // A binding shows in the cache a moment later; until then this remembers it.
  const stillWaiting = new Set(waiting.map((pod) => pod.metadata.uid))
  for (const uid of assumed.keys()) if (!stillWaiting.has(uid)) assumed.delete(uid)
  const unassigned = waiting.filter((pod) => !assumed.has(pod.metadata.uid)).sort(byPriority)
  if (unassigned.length === 0) return
  const loads = nodeLoads(await client.list(Node), pods, assumed)
  const bindings: { readonly pod: Pod; readonly node: string }[] = []
  const refused: { readonly pod: Pod; readonly reason: string }[] = []
  for (const pod of unassigned) {
    const placement = schedulePod(pod, loads)
    if ('reason' in placement) refused.push({ pod, reason: placement.reason })
    else {
      place(pod, placement.node)
      bindings.push({ pod, node: placement.node.node.metadata.name })
    }
  }
  await inParallel(bindings, async ({ pod, node }) => {
    assumed.set(pod.metadata.uid, node)
    try {
      await bind(context, pod, node)
    } catch (error) {
      assumed.delete(pod.metadata.uid)
      // Gone or bound by somebody else: either way it waits no longer.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  })
  await inParallel(refused, ({ pod, reason }) => refuse(context, pod, reason, now))
}

async function bind({ client, events }: KeyContext, pod: Pod, node: string): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  const binding = Binding({
    metadata: { name, namespace, uid },
    target: { kind: 'Node', name: node },
  })
  await client.subresource(Pod, 'binding').create({ namespace, name }, binding)
  const message = `Successfully assigned ${namespace}/${name} to ${node}`
  events.record(pod, { type: 'Normal', reason: 'Scheduled', message, action: 'Binding' })
}

async function refuse({ client, events }: KeyContext, pod: Pod, message: string, now: number): Promise<void> {
  const current = findCondition(pod.status?.conditions, 'PodScheduled')
  if (current?.status === 'False' && current.message === message) return
  events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message, action: 'Scheduling' })
  const condition: PodCondition = {
    type: 'PodScheduled',
    status: 'False',
    lastTransitionTime: current?.status === 'False' ? (current.lastTransitionTime ?? toTime(now)) : toTime(now),
    reason: 'Unschedulable',
    message,
  }
  const { namespace = '', name, uid } = pod.metadata
  const patch = { metadata: { uid }, status: { conditions: [condition] } }
  try {
    await client.subresource(Pod, 'status').patch({ namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

function byPriority(a: Pod, b: Pod): number {
  const order = (b.spec.priority ?? 0) - (a.spec.priority ?? 0)
  if (order !== 0) return order
  return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1
}
