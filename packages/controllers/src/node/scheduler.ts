import { findCondition, isConflict, isNotFound, keyOf, selectorFrom, toTime } from '@kubewright/api'
import {
  Binding,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  type PodCondition,
  PodDisruptionBudget,
} from '@kubewright/k8s'
import type { KeyContext, KeyController, Source } from '@kubewright/runtime'
import { claimsOf } from '../volume/claims-of-pod.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { disruptionTarget, disruptPod } from '../workload/disrupt-pod.ts'
import { eventSource } from '../workload/event-source.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { inParallel } from '../workload/slow-start.ts'
import { ClusterLedger, type NodeLoad, type PlacedPod, placedPod } from './cluster-ledger.ts'
import { NodeRanking } from './node-ranking.ts'
import { hasNamespaceSelector, selectsNamespaces } from './pod-affinity.ts'
import { volumeFacts } from './pod-volumes.ts'
import { type Refusal, type SchedulingFacts, schedulePod } from './schedule-pod.ts'
import { isWaiting, UnboundPods } from './unbound-pods.ts'

const selectedNode = 'volume.kubernetes.io/selected-node'

// One pass places all pending pods, so that concurrent passes cannot make conflicting decisions. The key `pods`
// requests a pass for pending pods; the second key one for refused pods that may fit now.
const waitingPods = 'pods'
const moreRoom = 'room'

/**
 * Binds pods to nodes, with the filters, preferences, preemption and messages of kube-scheduler. A scheduler holds state:
 * run it in one manager only.
 */
export function podScheduler(): KeyController {
  const ledger = new ClusterLedger()
  const queue = new UnboundPods()
  return defineBuiltinController({
    name: 'kube-scheduler',
    reporter: 'default-scheduler',
    kind: Pod,
    sources: [pendingPods(ledger, queue), schedulableNodes(ledger)],
    start: ({ clock }) => {
      const ranking = new NodeRanking(ledger)
      const state: SchedulerState = { ledger, ranking, queue }
      return async (key, context) => {
        if (key === moreRoom && !queue.reconsider() && queue.waiting.size === 0) return
        await scheduleAll(context, state, clock.now())
      }
    },
  })
}

interface SchedulerState {
  readonly ledger: ClusterLedger
  readonly ranking: NodeRanking
  readonly queue: UnboundPods
}

/** Updates the ledger from pod events and enqueues a pass when one is needed. */
function pendingPods(ledger: ClusterLedger, queue: UnboundPods): Source {
  return eventSource(Pod, {
    started: () => {
      ledger.clearPods()
      queue.clear()
    },
    seen: (pod, sink) => {
      ledger.see(pod)
      queue.see(pod)
      if (isWaiting(pod)) sink.add(waitingPods, { cause: { event: 'update', kind: 'v1 Pod', object: keyOf(pod) } })
      else if (isPodTerminal(pod)) sink.add(moreRoom)
    },
    gone: (pod, sink) => {
      ledger.forget(pod.metadata.uid)
      queue.forget(pod.metadata.uid)
      sink.add(moreRoom, { cause: { event: 'delete', kind: 'v1 Pod', object: keyOf(pod) } })
    },
  })
}

/** Updates the ledger from node events and enqueues a pass when a node may have become suitable for refused pods. */
function schedulableNodes(ledger: ClusterLedger): Source {
  return eventSource(Node, {
    started: () => ledger.clearNodes(),
    seen: (node, sink) => {
      if (ledger.seeNode(node)) sink.add(moreRoom, { cause: { event: 'update', kind: 'v1 Node', object: keyOf(node) } })
    },
    gone: (node, sink) => {
      ledger.forgetNode(node.metadata.name)
      sink.add(moreRoom, { cause: { event: 'delete', kind: 'v1 Node', object: keyOf(node) } })
    },
  })
}

async function scheduleAll(context: KeyContext, state: SchedulerState, now: number): Promise<void> {
  const { ledger, queue } = state
  // The cache shows a binding only later; until then the ledger remembers it.
  const due = queue.take((pod) => !ledger.isAssumed(pod.metadata.uid)).sort(byPriority)
  if (due.length === 0) return
  try {
    await schedule(due, context, state, now)
  } catch (error) {
    // The key is retried.
    queue.restore(due)
    throw error
  }
}

async function schedule(due: readonly Pod[], context: KeyContext, state: SchedulerState, now: number): Promise<void> {
  const { ledger, ranking, queue } = state
  // Only the anti-affinity terms of existing pods are read from them.
  const loads = ledger.repelling > 0 ? ledger.nodes : []
  const facts = await sharedFacts(context, due, loads, queue)
  const bindings: { readonly pod: Pod; readonly node: string }[] = []
  const refusals: { readonly pod: Pod; readonly refusal: Refusal }[] = []
  let isRoomLost = false
  for (const pod of due) {
    const { uid } = pod.metadata
    const volumes = claimsOf(pod).length === 0 ? undefined : await volumeFacts(pod, context)
    const nominatedNode = queue.nominationOf(pod)
    const isRanked = volumes === undefined && !nominatedNode && facts.nominated.size === 0
    const ranked = isRanked ? ranking.choose(pod) : undefined
    const placement =
      ranked === undefined
        ? schedulePod(pod, ledger.nodes, {
            ...facts,
            obstacle: volumes?.obstacle,
            volumeNodes: volumes?.volumeNodes ?? [],
            nominatedNode,
          })
        : { node: ranked }
    if ('reason' in placement) {
      if (volumes?.obstacle === undefined) queue.waiting.delete(uid)
      else queue.waiting.add(uid)
      refusals.push({ pod, refusal: placement })
      if (nominate(pod, placement, facts.nominated, queue)) isRoomLost = true
      continue
    }
    const node = placement.node.node.metadata.name
    if (volumes !== undefined && volumes.delayed.length > 0) {
      // The claims are bound for this node first; their change causes the next pass.
      queue.waiting.add(uid)
      await inParallel(volumes.delayed, (claim) => selectNode(context, claim, node))
      continue
    }
    queue.waiting.delete(uid)
    queue.nominations.delete(uid)
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
  await inParallel(refusals, async ({ pod, refusal }) => {
    queue.refuse(await refuse(context, pod, refusal, now))
    if (refusal.preemption !== undefined) await preempt(context, pod, refusal.preemption, now)
  })
  // Pods with pod affinity may fit now, next to pods that were just bound.
  const hasNeighbors = bindings.length > 0 && queue.reconsider(({ spec }) => spec.affinity?.podAffinity !== undefined)
  // This terminates, because each pod is bound only once and loses room only to pods of higher priority.
  if (hasNeighbors || isRoomLost) await scheduleAll(context, state, now)
}

type Nominated = Map<string, PlacedPod[]>

/** The facts that all pods of a pass share. Reads objects only when a pod needs them. */
async function sharedFacts(
  { client }: KeyContext,
  due: readonly Pod[],
  loads: readonly NodeLoad[],
  queue: UnboundPods,
): Promise<SchedulingFacts & { readonly nominated: Nominated }> {
  const nominated: Nominated = new Map()
  for (const pod of queue.nominated()) {
    const node = queue.nominationOf(pod)
    if (node) nominated.set(node, [...(nominated.get(node) ?? []), placedPod(pod)])
  }
  const needsNamespaces =
    due.some(selectsNamespaces) ||
    loads.some(({ repelling }) => [...repelling].some(({ repels }) => repels.some(hasNamespaceSelector)))
  const namespaces = needsNamespaces ? await client.list(Namespace) : []
  const canPreempt = due.some(({ spec }) => (spec.priority ?? 0) > 0 && spec.preemptionPolicy !== 'Never')
  const budgets = canPreempt ? await client.list(PodDisruptionBudget, { namespace: '' }) : []
  return {
    nominated,
    namespaces: new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels])),
    // An empty selector of a budget matches nothing here, as in kube-scheduler.
    budgets: budgets
      .filter(({ spec }) => Object.keys(spec?.selector ?? {}).length > 0)
      .map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? '',
        selector: selectorFrom(spec?.selector),
        disruptionsAllowed: status?.disruptionsAllowed ?? 0,
        disrupted: new Set(Object.keys(status?.disruptedPods ?? {})),
      })),
  }
}

/**
 * Records on which node room is made for a refused pod, so that pods after it do not take the room. Pods of lower priority lose the room that
 * was made for them there, as in kube-scheduler: they may no longer fit. Returns whether there are any.
 */
function nominate(pod: Pod, refusal: Refusal, nominated: Nominated, queue: UnboundPods): boolean {
  if (refusal.keepsNomination) return false
  const { uid } = pod.metadata
  const before = queue.nominationOf(pod)
  if (before)
    nominated.set(
      before,
      (nominated.get(before) ?? []).filter((placed) => placed.uid !== uid),
    )
  if (refusal.preemption === undefined) {
    queue.nominations.delete(uid)
    return false
  }
  const { node } = refusal.preemption
  const placed = placedPod(pod)
  const others = nominated.get(node) ?? []
  const losers = others.filter(({ priority }) => priority < placed.priority)
  for (const loser of losers) queue.loseRoom(loser.uid)
  queue.nominations.set(uid, node)
  nominated.set(node, [...others.filter(({ priority }) => priority >= placed.priority), placed])
  return losers.length > 0
}

async function preempt(
  { client, events }: KeyContext,
  pod: Pod,
  { node, victims }: NonNullable<Refusal['preemption']>,
  now: number,
): Promise<void> {
  const { schedulerName = 'default-scheduler' } = pod.spec
  const text = `${schedulerName}: preempting to accommodate a higher priority pod`
  await inParallel(victims, async ({ name, namespace, uid }) => {
    const victim = await client.find(Pod, { namespace, name })
    if (victim?.metadata.uid !== uid || victim.metadata.deletionTimestamp !== undefined) return
    const condition = disruptionTarget(victim, 'PreemptionByScheduler', text, now)
    await disruptPod(client, victim, { status: { conditions: [condition] } })
    const message = `Preempted by pod ${pod.metadata.uid} on node ${node}`
    events.record(victim, { type: 'Normal', reason: 'Preempted', message, action: 'Preempting', related: pod })
  })
}

/** Requests that a claim with delayed binding is bound for a node. */
async function selectNode({ client }: KeyContext, claim: PersistentVolumeClaim, node: string): Promise<void> {
  if (claim.metadata.annotations?.[selectedNode] === node) return
  const { name, namespace = '' } = claim.metadata
  try {
    await client.patch(
      PersistentVolumeClaim,
      { namespace, name },
      { metadata: { annotations: { [selectedNode]: node } } },
    )
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/**
 * Writes a binding without the cached client: the response does not contain the pod, so the cached client would read
 * the pod, and every list of its namespace, from the server afterwards. The ledger remembers the binding instead.
 */
async function bind({ cluster, events }: KeyContext, pod: Pod, node: string): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  const binding = Binding({
    metadata: { name, namespace, uid },
    target: { kind: 'Node', name: node },
  })
  await cluster.api.subresource(Pod, 'binding').create({ namespace, name }, binding)
  const message = `Successfully assigned ${namespace}/${name} to ${node}`
  events.record(pod, { type: 'Normal', reason: 'Scheduled', message, action: 'Binding' })
}

/** Sets the condition PodScheduled to False, and the nominated node. Resolves to the updated pod. */
async function refuse({ client, events }: KeyContext, pod: Pod, refusal: Refusal, now: number): Promise<Pod> {
  const { reason: message, preemption, keepsNomination } = refusal
  const current = findCondition(pod.status?.conditions, 'PodScheduled')
  const before = pod.status?.nominatedNodeName ?? ''
  const nominatedNodeName = keepsNomination ? before : (preemption?.node ?? '')
  const isTold = current?.status === 'False' && current.message === message
  if (isTold && nominatedNodeName === before) return pod
  if (!isTold) events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message, action: 'Scheduling' })
  const condition: PodCondition = {
    type: 'PodScheduled',
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    status: 'False',
    lastTransitionTime: current?.status === 'False' ? (current.lastTransitionTime ?? toTime(now)) : toTime(now),
    reason: 'Unschedulable',
    message,
  }
  const { namespace = '', name, uid } = pod.metadata
  const nomination = nominatedNodeName === before ? {} : { nominatedNodeName: nominatedNodeName || null }
  const patch = { metadata: { uid }, status: { conditions: [condition], ...nomination } }
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
