import { scaledValue } from '@kubewright/api'
import { defineBudget } from '@kubewright/base'
import type { DaemonSet, DaemonSetStatus, Node, Pod } from '@kubewright/k8s'
import { matchesNode, untoleratedTaint } from '../workload/node-fit.ts'
import { omitZero } from '../workload/omit-zero.ts'
import { isPodAvailable, isPodReady } from '../workload/pod-state.ts'
import { hashLabel, nodeOf, tolerationsOf } from './daemon-pod.ts'

/** Input of {@link planDaemonSet} and {@link daemonSetStatus}. */
export interface DaemonFacts {
  readonly set: DaemonSet
  readonly nodes: readonly Node[]
  /** All pods that the set controls. */
  readonly pods: readonly Pod[]
  /** The hash of the set's template. */
  readonly hash: string
  readonly now: number
}

/** The next actions for a daemon set. */
export interface DaemonPlan {
  /** The names of the nodes that need a pod. */
  readonly create: readonly string[]
  readonly delete: readonly Pod[]
  /** The finished pods among those to delete. */
  readonly ended: ReadonlySet<Pod>
}

/** The maximum number of pods that one plan creates, and deletes. The events of these pods requeue the set. */
const burst = defineBudget(250, {
  group: 'controllers',
  what: 'pods that a DaemonSet creates or deletes in one sync',
  answer: 'the next sync continues',
})

interface Fit {
  readonly run: boolean
  readonly stay: boolean
}

/** The fit of each node. It is needed several times per plan, and clusters may have thousands of nodes. */
function fitsOf({ set, nodes }: DaemonFacts): (node: Node) => Fit {
  const fits = new Map(nodes.map((node) => [node, fitOf(set, node)]))
  return (node) => fits.get(node) ?? fitOf(set, node)
}

/** Whether a daemon pod should run on the node, and whether an existing one may stay there. */
function fitOf(set: DaemonSet, node: Node): Fit {
  const spec = set.spec.template.spec ?? { containers: [] }
  if (spec.nodeName && spec.nodeName !== node.metadata.name) return { run: false, stay: false }
  if (!matchesNode(spec, node)) return { run: false, stay: false }
  const tolerations = tolerationsOf(set)
  const { taints } = node.spec ?? {}
  return {
    run: untoleratedTaint(taints, tolerations, ['NoExecute', 'NoSchedule']) === undefined,
    stay: untoleratedTaint(taints, tolerations, ['NoExecute']) === undefined,
  }
}

/**
 * Plans pods to create on eligible nodes without one, pods to delete elsewhere, and updates within the strategy's
 * limits.
 */
export function planDaemonSet(facts: DaemonFacts): DaemonPlan {
  const byNode = groupByNode(facts.pods)
  const create: string[] = []
  const remove = new Set<Pod>()
  const ended = new Set<Pod>()
  const known = new Set<string>()
  const fit = fitsOf(facts)
  const surges = surgeOf(facts, fit) > 0
  for (const node of facts.nodes) {
    const { name } = node.metadata
    known.add(name)
    const pods = byNode.get(name) ?? []
    const { run, stay } = fit(node)
    if (!stay) {
      for (const pod of pods.filter(isStaying)) remove.add(pod)
      continue
    }
    if (pods.length === 0) {
      if (run) create.push(name)
      continue
    }
    const running: Pod[] = []
    for (const pod of pods.filter(isStaying)) {
      if (pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded') running.push(pod)
      else {
        ended.add(pod)
        remove.add(pod)
      }
    }
    if (surges && running.length === 0 && run) create.push(name)
    else for (const pod of excess(facts, running, surges)) remove.add(pod)
  }
  // Pods of nodes that no longer exist.
  for (const [name, pods] of byNode) {
    if (!known.has(name)) for (const pod of pods.filter(isStaying)) remove.add(pod)
  }
  if (create.length === 0 && remove.size === 0) {
    const update = planUpdate(facts, byNode, fit)
    return { create: update.create.slice(0, burst), delete: update.delete.slice(0, burst), ended }
  }
  return { create: create.slice(0, burst), delete: [...remove].slice(0, burst), ended }
}

/**
 * The surplus pods of a node: all but the oldest; with surge, all but one old and one new pod until the new one is
 * available.
 */
function excess({ hash, set, now }: DaemonFacts, running: readonly Pod[], surges: boolean): readonly Pod[] {
  const aged = byAge(running)
  if (!surges) return aged.slice(1)
  const fresh = aged.filter((pod) => pod.metadata.labels?.[hashLabel] === hash)
  const stale = aged.filter((pod) => pod.metadata.labels?.[hashLabel] !== hash)
  const [newest, oldest] = [fresh[0], stale[0]]
  const over = [...fresh.slice(1), ...stale.slice(1)]
  if (newest === undefined || oldest === undefined) return over
  const replaced = !isPodReady(oldest) || isPodAvailable(newest, set.spec.minReadySeconds ?? 0, now)
  return replaced ? [...over, oldest] : over
}

function planUpdate(
  facts: DaemonFacts,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  fit: (node: Node) => Fit,
): Omit<DaemonPlan, 'ended'> {
  const { set, hash, nodes, now } = facts
  if (set.spec.updateStrategy?.type === 'OnDelete') return { create: [], delete: [] }
  const wanted = nodes.filter((node) => fit(node).run)
  const minReady = set.spec.minReadySeconds ?? 0
  const maxSurge = surgeOf(facts, fit)
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {}
  const limit = Math.max(scaledValue(maxUnavailable, wanted.length, true), maxSurge === 0 ? 1 : 0)
  let unavailable = 0
  let surging = 0
  const broken: { readonly node: string; readonly pod: Pod }[] = []
  const candidates: { readonly node: string; readonly pod: Pod }[] = []
  for (const { metadata } of wanted) {
    const pods = (byNode.get(metadata.name) ?? []).filter(isStaying)
    const [only] = pods
    if (pods.length > 1) surging++
    if (only === undefined || pods.length > 1) {
      unavailable++
      continue
    }
    const serves = isPodAvailable(only, minReady, now)
    if (!serves) unavailable++
    if (only.metadata.labels?.[hashLabel] === hash) continue
    if (serves) candidates.push({ node: metadata.name, pod: only })
    else broken.push({ node: metadata.name, pod: only })
  }
  if (maxSurge > 0) {
    const more = candidates.slice(0, Math.max(0, maxSurge - surging))
    return { create: [...broken, ...more].map(({ node }) => node), delete: [] }
  }
  // Pods that are unavailable already can be replaced without reducing availability.
  const more = candidates.slice(0, Math.max(0, limit - unavailable))
  return { create: [], delete: [...broken, ...more].map(({ pod }) => pod) }
}

function surgeOf({ set, nodes }: DaemonFacts, fit: (node: Node) => Fit): number {
  const { maxSurge = 0 } = set.spec.updateStrategy?.rollingUpdate ?? {}
  if (set.spec.updateStrategy?.type === 'OnDelete' || maxSurge === 0) return 0
  return scaledValue(maxSurge, nodes.filter((node) => fit(node).run).length, true)
}

/** Computes the status from the set's pods. */
export function daemonSetStatus({ set, nodes, pods, hash, now }: DaemonFacts, collisionCount: number): DaemonSetStatus {
  const byNode = groupByNode(pods)
  let [desired, current, misscheduled, ready, available, updated] = [0, 0, 0, 0, 0, 0]
  for (const node of nodes) {
    const [pod] = byAge(byNode.get(node.metadata.name) ?? [])
    if (!fitOf(set, node).run) {
      if (pod !== undefined) misscheduled++
      continue
    }
    desired++
    if (pod === undefined) continue
    current++
    if (isPodReady(pod)) ready++
    if (isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)) available++
    if (pod.metadata.labels?.[hashLabel] === hash) updated++
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    ...omitZero<Partial<DaemonSetStatus>>({
      observedGeneration: set.metadata.generation,
      updatedNumberScheduled: updated,
      numberAvailable: available,
      numberUnavailable: desired - available,
      collisionCount,
    }),
  }
}

const isStaying = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined

function groupByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const groups = new Map<string, Pod[]>()
  for (const pod of pods) {
    const node = nodeOf(pod)
    if (node === undefined) continue
    const group = groups.get(node)
    if (group === undefined) groups.set(node, [pod])
    else group.push(pod)
  }
  return groups
}

// Pods bound to a node come first, then the oldest.
function byAge(pods: readonly Pod[]): Pod[] {
  const rank = ({ metadata, spec }: Pod): string =>
    `${spec.nodeName ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`
  return [...pods].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
}
