import type { Selector } from '@kubewright/api'
import { loadWith, type NodeLoad, type PlacedPod } from './cluster-ledger.ts'

/** A PodDisruptionBudget, as far as preemption respects it. */
export interface Budget {
  readonly namespace: string
  readonly selector: Selector
  readonly disruptionsAllowed: number
  /** The names of pods whose eviction the budget has counted already. */
  readonly disrupted: ReadonlySet<string>
}

/** The pods to delete from a node, or for each node the reason why no deletion helps. */
export type PreemptionPlan =
  | { readonly node: NodeLoad; readonly victims: readonly PlacedPod[] }
  | { readonly reasons: readonly string[] }

/** The reasons why the preemptor does not fit on a node from which pods were removed. */
type TryNode = (load: NodeLoad, replaced: NodeLoad) => { readonly reasons: readonly string[] } | undefined

// kube-scheduler tries a tenth of the nodes, but at least 100.
const fewestCandidates = 100

interface Candidate {
  readonly node: NodeLoad
  readonly victims: readonly PlacedPod[]
  readonly violations: number
}

/**
 * Finds the node whose pods are deleted in favour of a more important pod, and the fewest pods that must go. Budgets are
 * respected where possible: pods that they protect go last. As in the plugin DefaultPreemption of kube-scheduler.
 */
export function planPreemption(
  preemptor: PlacedPod,
  nodes: readonly NodeLoad[],
  budgets: readonly Budget[],
  tryNode: TryNode,
): PreemptionPlan {
  const candidates: Candidate[] = []
  const reasons: string[] = []
  const limit = Math.max(fewestCandidates, Math.floor(nodes.length / 10))
  for (const node of nodes) {
    const found = victimsOn(node, preemptor, budgets, tryNode)
    if ('victims' in found) candidates.push(found)
    else for (const reason of found.reasons) reasons.push(reason)
    if (candidates.length >= limit) break
  }
  const best = candidates.reduce<Candidate | undefined>(
    (first, next) => (first === undefined || compare(next, first) < 0 ? next : first),
    undefined,
  )
  return best ?? { reasons }
}

function victimsOn(
  node: NodeLoad,
  preemptor: PlacedPod,
  budgets: readonly Budget[],
  tryNode: TryNode,
): Candidate | { readonly reasons: readonly string[] } {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < preemptor.priority).sort(byImportance)
  if (lower.length === 0) return { reasons: ['No preemption victims found for incoming pod'] }
  let left = loadWith(node, { without: lower })
  const problem = tryNode(node, left)
  if (problem !== undefined) return problem
  const victims: PlacedPod[] = []
  let violations = 0
  const { protectedPods, others } = byBudget(lower, budgets)
  // Pods stay where possible: first those that budgets protect, the most important ones first.
  for (const [isProtected, pods] of [
    [true, protectedPods],
    [false, others],
  ] as const) {
    for (const pod of pods) {
      const next = loadWith(left, { and: [pod] })
      if (tryNode(node, next) === undefined) left = next
      else {
        victims.push(pod)
        if (isProtected) violations++
      }
    }
  }
  return { node, victims: victims.sort(byImportance), violations }
}

function byBudget(
  pods: readonly PlacedPod[],
  budgets: readonly Budget[],
): { readonly protectedPods: PlacedPod[]; readonly others: PlacedPod[] } {
  const left = budgets.map(({ disruptionsAllowed }) => disruptionsAllowed)
  const protectedPods: PlacedPod[] = []
  const others: PlacedPod[] = []
  for (const pod of pods) {
    let isProtected = false
    for (const [index, { disrupted, namespace, selector }] of budgets.entries()) {
      if (namespace !== pod.namespace || disrupted.has(pod.name)) continue
      if (Object.keys(pod.labels ?? {}).length === 0 || !selector.matches(pod.labels)) continue
      left[index] = (left[index] ?? 0) - 1
      if (left[index] < 0) isProtected = true
    }
    if (isProtected) protectedPods.push(pod)
    else others.push(pod)
  }
  return { protectedPods, others }
}

/** Higher priority first, then the pod that has run for longer. */
function byImportance(a: PlacedPod, b: PlacedPod): number {
  if (a.priority !== b.priority) return b.priority - a.priority
  const [one, two] = [a.startTime ?? '9', b.startTime ?? '9']
  return one < two ? -1 : one > two ? 1 : 0
}

/** Fewest violated budgets, then the least important first victim, the lowest priorities, the fewest pods, the latest start. */
function compare(a: Candidate, b: Candidate): number {
  const first = ({ victims }: Candidate): number => victims[0]?.priority ?? Number.MIN_SAFE_INTEGER
  // Priorities may be negative; kube-scheduler shifts them, so that fewer victims sum up to less.
  const sum = ({ victims }: Candidate): number => victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0)
  const order =
    a.violations - b.violations || first(a) - first(b) || sum(a) - sum(b) || a.victims.length - b.victims.length
  if (order !== 0) return order
  const [one, two] = [earliestStart(a), earliestStart(b)]
  return one > two ? -1 : one < two ? 1 : 0
}

/** The earliest start of the most important victims. */
function earliestStart({ victims }: Candidate): string {
  const [first] = victims
  const top = victims.filter(({ priority }) => priority === first?.priority)
  return top.map(({ startTime }) => startTime ?? '9').sort()[0] ?? ''
}
