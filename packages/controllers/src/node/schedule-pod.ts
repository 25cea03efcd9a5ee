import { controllerOf, type Selector, selectorFrom } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Node, Pod, PodAffinityTerm } from '@kubewright/k8s'
import { matchesNode, untoleratedTaint } from '../workload/node-fit.ts'
import { isPodTerminal } from '../workload/pod-state.ts'
import { type Amounts, addAll, allocatableOf, requestsOf } from './pod-resources.ts'

/** A node and what is on it. */
export interface NodeLoad {
  readonly node: Node
  readonly allocatable: Amounts
  readonly used: Amounts
  readonly pods: Pod[]
}

/** Where a pod goes, or why it goes nowhere. */
export type Placement = { readonly node: NodeLoad } | { readonly reason: string }

/** The nodes with what the pods use of them. `assumed` says where pods go that do not say so themselves yet, by uid. */
export function nodeLoads(
  nodes: readonly Node[],
  pods: readonly Pod[],
  assumed: ReadonlyMap<string, string> = new Map(),
): NodeLoad[] {
  const loads = nodes.map((node): NodeLoad => ({ node, allocatable: allocatableOf(node), used: new Map(), pods: [] }))
  const byName = new Map(loads.map((load) => [load.node.metadata.name, load]))
  for (const pod of pods) {
    const load = byName.get(pod.spec.nodeName || (assumed.get(pod.metadata.uid) ?? ''))
    if (load !== undefined && !isPodTerminal(pod)) place(pod, load)
  }
  return loads
}

/** Counts a pod on a node. */
export function place(pod: Pod, load: NodeLoad): void {
  addAll(load.used, requestsOf(pod))
  load.pods.push(pod)
}

/** Picks the node for a pod: of those that fit, one with few pods of the same owner, and then the one with most room. */
export function schedulePod(pod: Pod, loads: readonly NodeLoad[]): Placement {
  if (loads.length === 0) return { reason: 'no nodes available to schedule pods' }
  const requests = requestsOf(pod)
  const refusals = new Map<string, number>()
  const hopeless = { final: 0, open: 0 }
  const fitting: NodeLoad[] = []
  for (const load of loads) {
    const { reasons, final } = misfit(pod, requests, load, loads)
    if (reasons.length === 0) {
      fitting.push(load)
      continue
    }
    hopeless[final ? 'final' : 'open']++
    for (const reason of reasons) refusals.set(reason, (refusals.get(reason) ?? 0) + 1)
  }
  const [best] = fitting.sort((a, b) => crowding(pod, a) - crowding(pod, b) || load(requests, a) - load(requests, b))
  return best === undefined ? { reason: refusalText(loads.length, refusals, hopeless) } : { node: best }
}

function refusalText(
  count: number,
  refusals: ReadonlyMap<string, number>,
  { final, open }: { readonly final: number; readonly open: number },
): string {
  const none = `0/${count} nodes are available:`
  const reasons = [...refusals].map(([reason, times]) => `${times} ${reason}`).sort()
  const preemption = [
    ...(open > 0 ? [`${open} No preemption victims found for incoming pod`] : []),
    ...(final > 0 ? [`${final} Preemption is not helpful for scheduling`] : []),
  ].sort()
  const after = `no new claims to deallocate, preemption: ${none} ${preemption.join(', ')}.`
  return `${none} ${reasons.join(', ')}. ${after}`
}

interface Misfit {
  readonly reasons: readonly string[]
  /** Whether even an empty node would not help. */
  readonly final: boolean
}

function misfit(pod: Pod, requests: Amounts, load: NodeLoad, loads: readonly NodeLoad[]): Misfit {
  const { node } = load
  const { tolerations } = pod.spec
  const cordon = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const }]
  if (node.spec?.unschedulable && untoleratedTaint(cordon, tolerations, ['NoSchedule'])) {
    return { reasons: ['node(s) were unschedulable'], final: true }
  }
  if (untoleratedTaint(node.spec?.taints, tolerations, ['NoSchedule', 'NoExecute'])) {
    return { reasons: ['node(s) had untolerated taint(s)'], final: true }
  }
  if (!matchesNode(pod.spec, node)) {
    return { reasons: ["node(s) didn't match Pod's node affinity/selector"], final: true }
  }
  if (hasPortConflict(pod, load)) {
    return { reasons: ["node(s) didn't have free ports for the requested pod ports"], final: false }
  }
  const lacking: string[] = []
  let final = false
  for (const [name, amount] of requests) {
    const room = load.allocatable.get(name) ?? 0n
    if (amount === 0n || (load.used.get(name) ?? 0n) + amount <= room) continue
    lacking.push(name === 'pods' ? 'Too many pods' : `Insufficient ${name}`)
    if (amount > room) final = true
  }
  if (lacking.length > 0) return { reasons: lacking, final }
  const between = affinityProblem(pod, load, loads)
  return between === undefined ? { reasons: [], final: false } : { reasons: [between], final: false }
}

function hasPortConflict(pod: Pod, { pods }: NodeLoad): boolean {
  const wanted = hostPorts(pod)
  return wanted.size > 0 && pods.some((other) => [...hostPorts(other)].some((port) => wanted.has(port)))
}

function hostPorts(pod: Pod): ReadonlySet<string> {
  const ports = pod.spec.containers.flatMap(({ ports: list = [] }) => list)
  return new Set(ports.flatMap(({ hostPort, protocol = 'TCP' }) => (hostPort ? [`${protocol} ${hostPort}`] : [])))
}

type Term = DeepReadonly<PodAffinityTerm>

/** Required affinity and anti-affinity between pods, of this pod and, for anti-affinity, of those that are there. */
function affinityProblem(pod: Pod, { node }: NodeLoad, loads: readonly NodeLoad[]): string | undefined {
  const zoneOf = (one: Node, term: Term): string | undefined => one.metadata.labels?.[term.topologyKey]
  const inZone = (term: Term): Pod[] => {
    const zone = zoneOf(node, term)
    if (zone === undefined) return []
    return loads.filter((load) => zoneOf(load.node, term) === zone).flatMap((load) => load.pods)
  }
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {}
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const anywhere = loads.some((load) => load.pods.some((other) => selects(term, pod, other)))
    // The first of its kind would never start if it had to wait for itself.
    const alone = !anywhere && selects(term, pod, pod) && zoneOf(node, term) !== undefined
    if (!alone && !inZone(term).some((other) => selects(term, pod, other))) {
      return "node(s) didn't match pod affinity rules"
    }
  }
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (inZone(term).some((other) => selects(term, pod, other))) return "node(s) didn't match pod anti-affinity rules"
  }
  for (const load of loads) {
    for (const other of load.pods) {
      const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
      for (const term of terms) {
        const zone = zoneOf(load.node, term)
        if (zone !== undefined && zone === zoneOf(node, term) && selects(term, other, pod)) {
          return "node(s) didn't satisfy existing pods anti-affinity rules"
        }
      }
    }
  }
  return undefined
}

function selects(term: Term, owner: Pod, other: Pod): boolean {
  const namespaces = term.namespaces?.length ? term.namespaces : [owner.metadata.namespace ?? '']
  const everywhere = term.namespaceSelector !== undefined && Object.keys(term.namespaceSelector).length === 0
  if (!everywhere && !namespaces.includes(other.metadata.namespace ?? '')) return false
  const selector: Selector = selectorFrom(term.labelSelector)
  return selector.matches(other.metadata.labels)
}

function crowding(pod: Pod, { pods }: NodeLoad): number {
  const owner = controllerOf(pod)?.uid
  return owner === undefined ? 0 : pods.filter((other) => controllerOf(other)?.uid === owner).length
}

/** How full the node will be, from 0 to 1: the mean over what the pod asks for. */
function load(requests: Amounts, { allocatable, used }: NodeLoad): number {
  let sum = 0
  for (const [name, amount] of requests) {
    const room = Number(allocatable.get(name) ?? 0n)
    sum += room === 0 ? 1 : Number((used.get(name) ?? 0n) + amount) / room
  }
  return sum / requests.size
}
