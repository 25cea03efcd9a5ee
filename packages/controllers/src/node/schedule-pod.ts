import type { DeepReadonly } from '@kubewright/base'
import type { Node, NodeSelector, Pod } from '@kubewright/k8s'
import { largest, smallest } from '../workload/extremes.ts'
import { matchesNode, matchesTerm, untoleratedTaint } from '../workload/node-fit.ts'
import { hasPortConflict, loadWith, type NodeLoad, type PlacedPod, placedPod } from './cluster-ledger.ts'
import { affinityProblem, type NamespaceLabels, preferredAffinity } from './pod-affinity.ts'
import { type Budget, planPreemption } from './preempt.ts'
import { TopologySpread } from './topology-spread.ts'

/** The chosen node, or the reason why no node fits. */
export type Placement = { readonly node: NodeLoad } | Refusal

/** Why no node fits, and what would help. */
export interface Refusal {
  readonly reason: string
  /** The pods to delete from a node, so that the pod fits there. */
  readonly preemption?: { readonly node: string; readonly victims: readonly PlacedPod[] } | undefined
  /** Whether a nomination of the pod stays: its victims still terminate. */
  readonly keepsNomination?: boolean | undefined
}

/** The facts besides nodes and pods that placing a pod depends on. */
export interface SchedulingFacts {
  /** The labels of namespaces, for terms that select namespaces. @default none */
  readonly namespaces?: NamespaceLabels | undefined
  /** @default none */
  readonly budgets?: readonly Budget[] | undefined
  /** The pods for which room is made on a node, by node. @default none */
  readonly nominated?: ReadonlyMap<string, readonly PlacedPod[]> | undefined
  /** The node on which room was made for the pod. @default the pod's status */
  readonly nominatedNode?: string | undefined
  /** The node selectors of the pod's volumes. @default none */
  readonly volumeNodes?: readonly DeepReadonly<NodeSelector>[] | undefined
  /** Why the pod fits on no node, whatever its resources, such as an unbound claim. @default none */
  readonly obstacle?: string | undefined
}

/**
 * Selects the node for a pod: of the nodes that fit, one with the best preferences, then the fewest pods of the same owner,
 * then the least full one. A node on which room was made for the pod comes first.
 */
export function schedulePod(pod: Pod, allLoads: readonly NodeLoad[], facts: SchedulingFacts = {}): Placement {
  if (allLoads.length === 0) return { reason: 'no nodes available to schedule pods' }
  const placed = placedPod(pod)
  const loads = withNominated(placed, allLoads, facts.nominated)
  const filter = new Filter(pod, placed, loads, facts)
  const misfits = new Map<NodeLoad, Misfit>()
  const fitting: NodeLoad[] = []
  for (const load of loads) {
    const found = filter.misfit(load)
    if (found === undefined) fitting.push(load)
    else misfits.set(load, found)
  }
  const { nominatedNode = pod.status?.nominatedNodeName } = facts
  const reserved = nominatedNode ? fitting.find(({ node }) => node.metadata.name === nominatedNode) : undefined
  const best = reserved ?? filter.best(fitting)
  if (best !== undefined) return { node: allLoads[loads.indexOf(best)] ?? best }
  return refusal(pod, placed, { loads, filter, misfits, facts, nominatedNode })
}

interface Refused {
  readonly loads: readonly NodeLoad[]
  readonly filter: Filter
  readonly misfits: ReadonlyMap<NodeLoad, Misfit>
  readonly facts: SchedulingFacts
  readonly nominatedNode: string | undefined
}

function refusal(pod: Pod, placed: PlacedPod, { loads, filter, misfits, facts, nominatedNode }: Refused): Refusal {
  const none = `0/${loads.length} nodes are available:`
  const { obstacle } = facts
  const head = `${none} ${obstacle ?? histogram([...misfits.values()].flatMap(({ reasons }) => reasons))}.`
  const claims = 'no new claims to deallocate, preemption:'
  const ineligible = preemptionObstacle(pod, placed, loads, misfits, nominatedNode)
  if (ineligible !== undefined) return { reason: `${head} ${claims} ${ineligible}`, keepsNomination: true }
  const open = loads.filter((load) => misfits.get(load)?.final === false)
  const plan = planPreemption(placed, open, facts.budgets ?? [], (load, replaced) => filter.without(replaced, load))
  if ('victims' in plan)
    return { reason: head, preemption: { node: plan.node.node.metadata.name, victims: plan.victims } }
  const reasons = [...plan.reasons]
  for (let i = open.length; i < loads.length; i++) reasons.push('Preemption is not helpful for scheduling')
  return { reason: `${head} ${claims} ${none} ${histogram(reasons)}.` }
}

/** Why the pod must not preempt others. */
function preemptionObstacle(
  pod: Pod,
  placed: PlacedPod,
  loads: readonly NodeLoad[],
  misfits: ReadonlyMap<NodeLoad, Misfit>,
  nominatedNode: string | undefined,
): string | undefined {
  if (pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const load = nominatedNode ? loads.find(({ node }) => node.metadata.name === nominatedNode) : undefined
  if (load === undefined || misfits.get(load)?.final === true) return undefined
  const isLeaving = [...load.pods.values()].some(
    ({ priority, terminating, preempted }) => priority < placed.priority && terminating && preempted,
  )
  return isLeaving ? 'not eligible due to a terminating pod on the nominated node.' : undefined
}

/** `3 reason, 1 other reason`, sorted as text. */
function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, times]) => `${times} ${reason}`)
    .sort()
    .join(', ')
}

/** Adds the pods for which room was made, unless this pod is more important. */
function withNominated(
  placed: PlacedPod,
  loads: readonly NodeLoad[],
  nominated: SchedulingFacts['nominated'],
): readonly NodeLoad[] {
  if (nominated === undefined || nominated.size === 0) return loads
  return loads.map((load) => {
    const others = nominated.get(load.node.metadata.name)
    const and = others?.filter(({ priority, uid }) => uid !== placed.uid && priority >= placed.priority) ?? []
    return and.length === 0 ? load : loadWith(load, { and })
  })
}

/** Why a pod does not fit on a node. */
export interface Misfit {
  readonly reasons: readonly string[]
  /** Whether the pod would not fit even if other pods were deleted. */
  readonly final: boolean
}

const lasting = (reason: string): Misfit => ({ reasons: [reason], final: true })

/** The filters and preferences of kube-scheduler for one pod, in the order of its default plugins. */
class Filter {
  readonly #pod: Pod
  readonly #placed: PlacedPod
  readonly #loads: readonly NodeLoad[]
  // Computed once: a visit to all loads for each node would be quadratic.
  readonly #repelling: readonly NodeLoad[]
  readonly #facts: SchedulingFacts
  readonly #names: ReadonlySet<string> | undefined
  #spread: TopologySpread | undefined

  constructor(pod: Pod, placed: PlacedPod, loads: readonly NodeLoad[], facts: SchedulingFacts) {
    this.#pod = pod
    this.#placed = placed
    this.#loads = loads
    this.#repelling = loads.filter(({ repelling }) => repelling.size > 0)
    this.#facts = facts
    this.#names = requiredNames(pod)
  }

  misfit(load: NodeLoad): Misfit | undefined {
    const { node } = load
    const { obstacle, volumeNodes = [] } = this.#facts
    if (obstacle !== undefined) return lasting(obstacle)
    if (this.#names !== undefined && !this.#names.has(node.metadata.name)) {
      return lasting("node(s) didn't satisfy plugin(s) [NodeAffinity]")
    }
    const unfit = nodeMisfit(this.#pod, node)
    if (unfit !== undefined) return unfit
    if (hasPortConflict(this.#placed, load.pods.values())) {
      return { reasons: ["node(s) didn't have free ports for the requested pod ports"], final: false }
    }
    const lacking = lackingResources(this.#placed.requests, load)
    if (lacking !== undefined) return lacking
    const fits = ({ nodeSelectorTerms }: DeepReadonly<NodeSelector>): boolean =>
      nodeSelectorTerms.some((term) => matchesTerm(term, node))
    if (!volumeNodes.every(fits)) return lasting("node(s) didn't match PersistentVolume's node affinity")
    const uneven = this.#topology()?.problem(node)
    if (uneven !== undefined) return { reasons: [uneven.reason], final: uneven.final }
    const { namespaces = new Map() } = this.#facts
    const between = affinityProblem(this.#pod, this.#placed, load, this.#loads, this.#repelling, namespaces)
    return between === undefined ? undefined : { reasons: [between.reason], final: between.final }
  }

  /** The misfit of a load that stands for another one, from which pods were removed. */
  without(replaced: NodeLoad, load: NodeLoad): Misfit | undefined {
    const loads = this.#loads.map((one) => (one === load ? replaced : one))
    return new Filter(this.#pod, this.#placed, loads, this.#facts).misfit(replaced)
  }

  best(fitting: readonly NodeLoad[]): NodeLoad | undefined {
    if (fitting.length < 2) return fitting[0]
    const preferences = this.#preferences(fitting)
    let best: { readonly load: NodeLoad; readonly rank: readonly [number, number, number] } | undefined
    for (const [index, load] of fitting.entries()) {
      const rank = [
        -(preferences?.[index] ?? 0),
        crowding(this.#placed, load),
        fullness(this.#placed.requests, load),
      ] as const
      if (best === undefined || isLess(rank, best.rank)) best = { load, rank }
    }
    return best?.load
  }

  /** The weighted preferences of the pod for each node, 0 to 900; undefined without any. The weights are kube-scheduler's. */
  #preferences(fitting: readonly NodeLoad[]): readonly number[] | undefined {
    const { affinity, tolerations, topologySpreadConstraints } = this.#pod.spec
    const scores: (readonly number[])[] = []
    const score = (weight: number, measure: (load: NodeLoad) => number): void => {
      const values = fitting.map(measure)
      const [low, high] = [smallest(values), largest(values)]
      if (low < high) scores.push(values.map((value) => (weight * 100 * (value - low)) / (high - low)))
    }
    if (fitting.some(({ node }) => node.spec?.taints?.some(({ effect }) => effect === 'PreferNoSchedule'))) {
      score(
        3,
        ({ node }) =>
          -(node.spec?.taints ?? []).filter((taint) => untoleratedTaint([taint], tolerations, ['PreferNoSchedule']))
            .length,
      )
    }
    const preferred = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    if (preferred.length > 0) {
      score(2, ({ node }) =>
        preferred.reduce((sum, { preference, weight }) => sum + (matchesTerm(preference, node) ? weight : 0), 0),
      )
    }
    if (topologySpreadConstraints?.some(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')) {
      score(2, ({ node }) => -(this.#topology()?.crowding(node) ?? 0))
    }
    const { namespaces = new Map() } = this.#facts
    const isSocial = [affinity?.podAffinity, affinity?.podAntiAffinity].some(
      (kind) => kind?.preferredDuringSchedulingIgnoredDuringExecution?.length,
    )
    if (isSocial) score(2, (load) => preferredAffinity(this.#pod, this.#placed, load, this.#loads, namespaces))
    if (scores.length === 0) return undefined
    return fitting.map((_, index) => scores.reduce((sum, values) => sum + (values[index] ?? 0), 0))
  }

  #topology(): TopologySpread | undefined {
    if (!this.#pod.spec.topologySpreadConstraints?.length) return undefined
    return (this.#spread ??= new TopologySpread(this.#pod, this.#loads))
  }
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0
    if (value !== other) return value < other
  }
  return false
}

/** The names that required node affinity allows, when each of its terms lists names, as in pods of daemon sets. */
function requiredNames({ spec }: Pod): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (terms === undefined || terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const byName = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (byName === undefined) return undefined
    for (const name of byName.values ?? []) names.add(name)
  }
  return names
}

const cordon = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const }]

/** Why a pod does not fit on a node whatever pods run there: taints and the pod's node selector and affinity. */
export function nodeMisfit({ spec }: Pod, node: Node): Misfit | undefined {
  const { tolerations } = spec
  if (node.spec?.unschedulable && untoleratedTaint(cordon, tolerations, ['NoSchedule'])) {
    return lasting('node(s) were unschedulable')
  }
  if (untoleratedTaint(node.spec?.taints, tolerations, ['NoSchedule', 'NoExecute'])) {
    return lasting('node(s) had untolerated taint(s)')
  }
  return matchesNode(spec, node) ? undefined : lasting("node(s) didn't match Pod's node affinity/selector")
}

/** The resources that a pod lacks on a node. */
export function lackingResources(
  requests: ReadonlyMap<string, bigint>,
  { allocatable, used }: NodeLoad,
): Misfit | undefined {
  const reasons: string[] = []
  let final = false
  for (const [name, amount] of requests) {
    const room = allocatable.get(name) ?? 0n
    if (amount === 0n || (used.get(name) ?? 0n) + amount <= room) continue
    reasons.push(name === 'pods' ? 'Too many pods' : `Insufficient ${name}`)
    if (amount > room && name !== 'pods') final = true
  }
  return reasons.length === 0 ? undefined : { reasons, final }
}

const crowding = ({ owner }: PlacedPod, { owners }: NodeLoad): number =>
  owner === undefined ? 0 : (owners.get(owner) ?? 0)

/** How full the node would be, from 0 to 1: the mean over the resources that the pod requests. */
export function fullness(requests: ReadonlyMap<string, bigint>, { allocatable, used }: NodeLoad): number {
  let sum = 0
  for (const [name, amount] of requests) {
    const room = Number(allocatable.get(name) ?? 0n)
    sum += room === 0 ? 1 : Number((used.get(name) ?? 0n) + amount) / room
  }
  return sum / requests.size
}
