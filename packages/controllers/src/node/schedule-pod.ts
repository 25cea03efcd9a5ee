import { selectorFrom } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Node, Pod, PodAffinityTerm } from '@kubewright/k8s'
import { matchesNode, untoleratedTaint } from '../workload/node-fit.ts'
import { type NodeLoad, type PlacedPod, placedPod } from './cluster-ledger.ts'
import type { Amounts } from './pod-resources.ts'

/** The chosen node, or the reason why no node fits. */
export type Placement = { readonly node: NodeLoad } | { readonly reason: string }

/**
 * Selects the node for a pod: of the nodes that fit, one with the fewest pods of the same owner, then the least full
 * one.
 */
export function schedulePod(pod: Pod, loads: readonly NodeLoad[]): Placement {
  if (loads.length === 0) return { reason: 'no nodes available to schedule pods' }
  const placed = placedPod(pod)
  const { requests } = placed
  const refusals = new Map<string, number>()
  const hopeless = { final: 0, open: 0 }
  const fitting: NodeLoad[] = []
  for (const load of loads) {
    const { reasons, final } = misfit(pod, placed, load, loads)
    if (reasons.length === 0) {
      fitting.push(load)
      continue
    }
    hopeless[final ? 'final' : 'open']++
    for (const reason of reasons) refusals.set(reason, (refusals.get(reason) ?? 0) + 1)
  }
  const [best] = fitting.sort(
    (a, b) => crowding(placed, a) - crowding(placed, b) || fullness(requests, a) - fullness(requests, b),
  )
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
  /** Whether the pod would not fit even if the node were empty. */
  readonly final: boolean
}

function misfit(pod: Pod, placed: PlacedPod, load: NodeLoad, loads: readonly NodeLoad[]): Misfit {
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
  if (hasPortConflict(placed, load)) {
    return { reasons: ["node(s) didn't have free ports for the requested pod ports"], final: false }
  }
  const lacking: string[] = []
  let final = false
  for (const [name, amount] of placed.requests) {
    const room = load.allocatable.get(name) ?? 0n
    if (amount === 0n || (load.used.get(name) ?? 0n) + amount <= room) continue
    lacking.push(name === 'pods' ? 'Too many pods' : `Insufficient ${name}`)
    if (amount > room) final = true
  }
  if (lacking.length > 0) return { reasons: lacking, final }
  const between = affinityProblem(pod, placed, load, loads)
  return between === undefined ? { reasons: [], final: false } : { reasons: [between], final: false }
}

function hasPortConflict({ ports }: PlacedPod, { pods }: NodeLoad): boolean {
  if (ports.length === 0) return false
  for (const other of pods.values()) if (other.ports.some((port) => ports.includes(port))) return true
  return false
}

type Term = DeepReadonly<PodAffinityTerm>

/** Checks required pod affinity and anti-affinity of this pod, and required anti-affinity of the existing pods. */
function affinityProblem(
  pod: Pod,
  placed: PlacedPod,
  { node }: NodeLoad,
  loads: readonly NodeLoad[],
): string | undefined {
  const zoneOf = (one: Node, term: Term): string | undefined => one.metadata.labels?.[term.topologyKey]
  const isNear = (term: Term): boolean => {
    const zone = zoneOf(node, term)
    return zone !== undefined && loads.some((load) => zoneOf(load.node, term) === zone && has(load, term, placed))
  }
  for (const term of pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (isNear(term)) continue
    // The first pod of a group matches its own affinity term; otherwise it could never start.
    const first = selects(term, placed, placed) && !loads.some((load) => has(load, term, placed))
    if (!first || zoneOf(node, term) === undefined) return "node(s) didn't match pod affinity rules"
  }
  if (placed.repels.some(isNear)) return "node(s) didn't match pod anti-affinity rules"
  for (const load of loads) {
    for (const other of load.repelling) {
      for (const term of other.repels) {
        const zone = zoneOf(load.node, term)
        if (zone !== undefined && zone === zoneOf(node, term) && selects(term, other, placed)) {
          return "node(s) didn't satisfy existing pods anti-affinity rules"
        }
      }
    }
  }
  return undefined
}

function has({ pods }: NodeLoad, term: Term, owner: PlacedPod): boolean {
  for (const other of pods.values()) if (selects(term, owner, other)) return true
  return false
}

function selects(term: Term, owner: PlacedPod, other: PlacedPod): boolean {
  const namespaces = term.namespaces?.length ? term.namespaces : [owner.namespace]
  const everywhere = term.namespaceSelector !== undefined && Object.keys(term.namespaceSelector).length === 0
  if (!everywhere && !namespaces.includes(other.namespace)) return false
  return selectorFrom(term.labelSelector).matches(other.labels)
}

const crowding = ({ owner }: PlacedPod, { owners }: NodeLoad): number =>
  owner === undefined ? 0 : (owners.get(owner) ?? 0)

/** How full the node would be, from 0 to 1: the mean over the resources that the pod requests. */
function fullness(requests: Amounts, { allocatable, used }: NodeLoad): number {
  let sum = 0
  for (const [name, amount] of requests) {
    const room = Number(allocatable.get(name) ?? 0n)
    sum += room === 0 ? 1 : Number((used.get(name) ?? 0n) + amount) / room
  }
  return sum / requests.size
}
