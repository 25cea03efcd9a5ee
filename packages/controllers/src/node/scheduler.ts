import { findCondition, isConflict, isNotFound, keyOf, toTime } from '@kubewright/api'
import { Binding, Node, Pod, type PodCondition } from '@kubewright/k8s'
import {
  type ControllerParts,
  changed,
  type KeyContext,
  type KeyController,
  type KeySink,
  kindSource,
  or,
  type RunningSource,
  type Source,
} from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { inParallel } from '../workload/slow-start.ts'
import { ClusterLedger } from './cluster-ledger.ts'
import { schedulePod } from './schedule-pod.ts'

// One pass places all pending pods, so that concurrent passes cannot make conflicting decisions. The key `pods`
// requests a pass for pending pods; the second key one for refused pods that may fit now.
const waitingPods = 'pods'
const moreRoom = 'room'

/**
 * Binds pods to nodes. Considers node selectors and affinity, taints, resources, host ports and required pod affinity.
 * Ignores priorities, preemption, topology spread and volumes. A scheduler holds state: run it in one manager only.
 */
export function podScheduler(): KeyController {
  const ledger = new ClusterLedger()
  return defineBuiltinController({
    name: 'kube-scheduler',
    reporter: 'default-scheduler',
    kind: Pod,
    sources: [
      podSource(ledger),
      kindSource(Node, {
        predicates: [or(changed('metadata.labels', 'spec'), changed('status.allocatable'))],
        map: () => [moreRoom],
      }),
    ],
    start: ({ clock }) => {
      const refused: Refused = new Map()
      return async (key, context) => {
        if (key === moreRoom) {
          if (refused.size === 0) return
          refused.clear()
        }
        await scheduleAll(context, ledger, refused, clock.now())
      }
    },
  })
}

/**
 * The unschedulable pods by uid, with the resource versions that were evaluated. A pod is evaluated again only when
 * resources are freed or the pod has changed.
 */
type Refused = Map<string, string>

/** Updates the ledger from pod events and enqueues a pass when one is needed. */
function podSource(ledger: ClusterLedger): Source {
  const start = (sink: KeySink, { cluster }: ControllerParts): RunningSource => {
    const lease = cluster.cache.use(Pod)
    const see = (pod: Pod): void => {
      ledger.see(pod)
      if (isWaiting(pod)) sink.add(waitingPods, { cause: { event: 'update', kind: 'v1 Pod', object: keyOf(pod) } })
      else if (isPodTerminal(pod)) sink.add(moreRoom)
    }
    const registration = lease.addHandler({
      onAdd: see,
      onUpdate: (_, pod) => see(pod),
      onDelete: (pod) => {
        ledger.forget(pod.metadata.uid)
        sink.add(moreRoom, { cause: { event: 'delete', kind: 'v1 Pod', object: keyOf(pod) } })
      },
    })
    return {
      synced: registration.synced,
      problem: () => (lease.health.state === 'failing' ? lease.health.message : undefined),
      registrations: [registration],
      [Symbol.asyncDispose]: () => lease.release(),
    }
  }
  return Object.freeze({ name: 'Pod', start })
}

function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec
  const isOurs = schedulerName === 'default-scheduler' && schedulingGates.length === 0
  return !nodeName && isOurs && pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod)
}

async function scheduleAll(context: KeyContext, ledger: ClusterLedger, refused: Refused, now: number): Promise<void> {
  const { client } = context
  const unbound = await client.list(Pod, { namespace: '', fields: { 'spec.nodeName': '' } })
  // The cache shows a binding only later; until then the ledger remembers it.
  const isDue = (pod: Pod): boolean =>
    isWaiting(pod) &&
    !ledger.isAssumed(pod.metadata.uid) &&
    refused.get(pod.metadata.uid) !== pod.metadata.resourceVersion
  const waiting = unbound.filter(isDue).sort(byPriority)
  const present = new Set(unbound.map(({ metadata }) => metadata.uid))
  for (const uid of refused.keys()) if (!present.has(uid)) refused.delete(uid)
  if (waiting.length === 0) return
  const loads = ledger.loads(await client.list(Node))
  const bindings: { readonly pod: Pod; readonly node: string }[] = []
  const refusals: { readonly pod: Pod; readonly reason: string }[] = []
  for (const pod of waiting) {
    const placement = schedulePod(pod, loads)
    if ('reason' in placement) {
      refusals.push({ pod, reason: placement.reason })
      continue
    }
    const node = placement.node.node.metadata.name
    ledger.assume(pod, node)
    bindings.push({ pod, node })
  }
  await inParallel(bindings, async ({ pod, node }) => {
    try {
      await bind(context, pod, node)
    } catch (error) {
      ledger.forget(pod.metadata.uid)
      // The pod was deleted, or bound by another scheduler: it is no longer pending.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  })
  await inParallel(refusals, async ({ pod, reason }) => {
    const { metadata } = await refuse(context, pod, reason, now)
    refused.set(metadata.uid, metadata.resourceVersion)
  })
  // Pods with pod affinity may fit now, next to pods that were just bound. This terminates, because each pod is bound
  // only once.
  const seeking = unbound.filter(({ spec, metadata }) => spec.affinity?.podAffinity && refused.has(metadata.uid))
  if (bindings.length === 0 || seeking.length === 0) return
  for (const { metadata } of seeking) refused.delete(metadata.uid)
  await scheduleAll(context, ledger, refused, now)
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

/** Sets the condition PodScheduled to False. Resolves to the updated pod. */
async function refuse({ client, events }: KeyContext, pod: Pod, message: string, now: number): Promise<Pod> {
  const current = findCondition(pod.status?.conditions, 'PodScheduled')
  if (current?.status === 'False' && current.message === message) return pod
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
    return await client.subresource(Pod, 'status').patch({ namespace, name }, patch, { type: 'strategic' })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
    return pod
  }
}

function byPriority(a: Pod, b: Pod): number {
  const order = (b.spec.priority ?? 0) - (a.spec.priority ?? 0)
  if (order !== 0) return order
  return a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1
}
