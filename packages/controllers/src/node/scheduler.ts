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
  return defineBuiltinController({
    name: 'kube-scheduler',
    reporter: 'default-scheduler',
    kind: Pod,
    sources: [pendingPods(ledger), schedulableNodes(ledger)],
    start: ({ clock }) => {
      const ranking = new NodeRanking(ledger)
      const state: SchedulerState = { ledger, ranking, refused: new Map(), waiting: new Set(), nominations: new Map() }
      return async (key, context) => {
        if (key === moreRoom) {
          if (state.refused.size + state.waiting.size === 0) return
          state.refused.clear()
        }
        await scheduleAll(context, state, clock.now())
      }
    },
  })
}

interface SchedulerState {
  readonly ledger: ClusterLedger
  readonly ranking: NodeRanking
  /**
   * The unschedulable pods by uid, with the resource versions that were evaluated. A pod is evaluated again only when
   * resources are freed or the pod has changed.
   */
  readonly refused: Map<string, string>
  /** The pods with claims that are not bound. Each pass evaluates them, because it also keeps the claims watched. */
  readonly waiting: Set<string>
  /** The nodes on which room was made for a pod, by uid. */
  readonly nominations: Map<string, string>
}

/** Updates the ledger from pod events and enqueues a pass when one is needed. */
function pendingPods(ledger: ClusterLedger): Source {
  return eventSource(Pod, {
    started: () => ledger.clearPods(),
    seen: (pod, sink) => {
      ledger.see(pod)
      if (isWaiting(pod)) sink.add(waitingPods, { cause: { event: 'update', kind: 'v1 Pod', object: keyOf(pod) } })
      else if (isPodTerminal(pod)) sink.add(moreRoom)
    },
    gone: (pod, sink) => {
      ledger.forget(pod.metadata.uid)
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

function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec
  const isOurs = schedulerName === 'default-scheduler' && schedulingGates.length === 0
  return !nodeName && isOurs && pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod)
}

async function scheduleAll(context: KeyContext, state: SchedulerState, now: number): Promise<void> {
  const { client } = context
  const { ledger, ranking, refused, waiting, nominations } = state
  const unbound = await client.list(Pod, { namespace: '', fields: { 'spec.nodeName': '' } })
  // The cache shows a binding only later; until then the ledger remembers it.
  const isDue = (pod: Pod): boolean =>
    isWaiting(pod) &&
    !ledger.isAssumed(pod.metadata.uid) &&
    (waiting.has(pod.metadata.uid) || refused.get(pod.metadata.uid) !== pod.metadata.resourceVersion)
  const due = unbound.filter(isDue).sort(byPriority)
  const present = new Set(unbound.map(({ metadata }) => metadata.uid))
  for (const map of [refused, waiting, nominations])
    for (const uid of map.keys()) if (!present.has(uid)) map.delete(uid)
  if (due.length === 0) return
  // Only the anti-affinity terms of existing pods are read from them.
  const loads = ledger.repelling > 0 ? ledger.nodes : []
  const facts = await sharedFacts(context, due, loads, unbound, nominations)
  const bindings: { readonly pod: Pod; readonly node: string }[] = []
  const refusals: { readonly pod: Pod; readonly refusal: Refusal }[] = []
  for (const pod of due) {
    const { uid } = pod.metadata
    const volumes = claimsOf(pod).length === 0 ? undefined : await volumeFacts(pod, context)
    const nominatedNode = nominations.get(uid) ?? pod.status?.nominatedNodeName
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
      if (volumes?.obstacle === undefined) waiting.delete(uid)
      else waiting.add(uid)
      refusals.push({ pod, refusal: placement })
      nominate(pod, placement, facts.nominated, nominations)
      continue
    }
    const node = placement.node.node.metadata.name
    if (volumes !== undefined && volumes.delayed.length > 0) {
      // The claims are bound for this node first; their change causes the next pass.
      waiting.add(uid)
      await inParallel(volumes.delayed, (claim) => selectNode(context, claim, node))
      continue
    }
    waiting.delete(uid)
    nominations.delete(uid)
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
    const { metadata } = await refuse(context, pod, refusal, now)
    refused.set(metadata.uid, metadata.resourceVersion)
    if (refusal.preemption !== undefined) await preempt(context, pod, refusal.preemption, now)
  })
  // Pods with pod affinity may fit now, next to pods that were just bound. This terminates, because each pod is bound
  // only once.
  const seeking = unbound.filter(({ spec, metadata }) => spec.affinity?.podAffinity && refused.has(metadata.uid))
  if (bindings.length === 0 || seeking.length === 0) return
  for (const { metadata } of seeking) refused.delete(metadata.uid)
  await scheduleAll(context, state, now)
}

type Nominated = Map<string, PlacedPod[]>

/** The facts that all pods of a pass share. Reads objects only when a pod needs them. */
async function sharedFacts(
  { client }: KeyContext,
  due: readonly Pod[],
  loads: readonly NodeLoad[],
  unbound: readonly Pod[],
  nominations: ReadonlyMap<string, string>,
): Promise<SchedulingFacts & { readonly nominated: Nominated }> {
  const nominated: Nominated = new Map()
  for (const pod of unbound) {
    const node = nominations.get(pod.metadata.uid) ?? pod.status?.nominatedNodeName
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

/** Records on which node room is made for a refused pod, so that pods after it do not take the room. */
function nominate(pod: Pod, refusal: Refusal, nominated: Nominated, nominations: Map<string, string>): void {
  if (refusal.keepsNomination) return
  const { uid } = pod.metadata
  const before = nominations.get(uid) ?? pod.status?.nominatedNodeName
  if (before)
    nominated.set(
      before,
      (nominated.get(before) ?? []).filter((placed) => placed.uid !== uid),
    )
  if (refusal.preemption === undefined) {
    nominations.delete(uid)
    return
  }
  const { node } = refusal.preemption
  nominations.set(uid, node)
  nominated.set(node, [...(nominated.get(node) ?? []), placedPod(pod)])
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
