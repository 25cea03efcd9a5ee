import { type Selector, selectorFrom } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Node, Pod, TopologySpreadConstraint } from '@kubewright/k8s'
import { smallest } from '../workload/extremes.ts'
import { matchesNode, untoleratedTaint } from '../workload/node-fit.ts'
import type { NodeLoad } from './cluster-ledger.ts'

/** The spread of the pods that one constraint selects. */
interface Spread {
  readonly constraint: DeepReadonly<TopologySpreadConstraint>
  readonly counts: ReadonlyMap<string, number>
  /** The count of the domain with the fewest pods; 0 when there are fewer domains than `minDomains`. */
  readonly lowest: number
  /** 1 when the constraint selects the pod itself. */
  readonly own: number
}

/** A violated constraint. */
export interface SpreadProblem {
  readonly reason: string
  readonly final: boolean
}

const mismatch = "node(s) didn't match pod topology spread constraints"

/** The topology spread constraints of a pod, with the present distribution of the pods that they select. */
export class TopologySpread {
  readonly #hard: readonly Spread[]
  readonly #soft: readonly Spread[]

  constructor(pod: Pod, loads: readonly NodeLoad[]) {
    const constraints = pod.spec.topologySpreadConstraints ?? []
    const kind = (when: string): readonly Spread[] => {
      const chosen = constraints.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === when)
      return chosen.map((constraint) => spreadOf(pod, constraint, chosen, loads))
    }
    this.#hard = kind('DoNotSchedule')
    this.#soft = kind('ScheduleAnyway')
  }

  /** The required constraint that a pod on this node would violate. As in the plugin PodTopologySpread of kube-scheduler. */
  problem({ metadata: { labels } }: Node): SpreadProblem | undefined {
    for (const { constraint, counts, lowest, own } of this.#hard) {
      const domain = labels?.[constraint.topologyKey]
      if (domain === undefined) return { reason: `${mismatch} (missing required label)`, final: true }
      if ((counts.get(domain) ?? 0) + own - lowest > constraint.maxSkew) return { reason: mismatch, final: false }
    }
    return undefined
  }

  /** How crowded the domains of a node are by the constraints that are preferences. Lower is better. */
  crowding({ metadata: { labels } }: Node): number {
    let sum = 0
    for (const { constraint, counts } of this.#soft) {
      const domain = labels?.[constraint.topologyKey]
      sum += domain === undefined ? Number.MAX_SAFE_INTEGER / 1e6 : (counts.get(domain) ?? 0)
    }
    return sum
  }
}

function spreadOf(
  pod: Pod,
  constraint: DeepReadonly<TopologySpreadConstraint>,
  all: readonly DeepReadonly<TopologySpreadConstraint>[],
  loads: readonly NodeLoad[],
): Spread {
  const { namespace = '', labels } = pod.metadata
  const matches = selectorOf(constraint, labels)
  const counts = new Map<string, number>()
  for (const { node, pods } of loads) {
    // A node without the labels of all constraints belongs to no domain.
    if (all.some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined)) continue
    if (!isIncluded(pod, constraint, node)) continue
    const domain = node.metadata.labels?.[constraint.topologyKey] ?? ''
    let count = counts.get(domain) ?? 0
    for (const other of pods.values()) {
      if (other.namespace === namespace && !other.terminating && matches(other.labels)) count++
    }
    counts.set(domain, count)
  }
  const enough = counts.size >= (constraint.minDomains ?? 1)
  const lowest = enough && counts.size > 0 ? smallest(counts.values()) : 0
  return { constraint, counts, lowest, own: matches(labels) ? 1 : 0 }
}

type Labels = Readonly<Record<string, string>> | undefined

function selectorOf(
  { labelSelector, matchLabelKeys = [] }: DeepReadonly<TopologySpreadConstraint>,
  own: Labels,
): (labels: Labels) => boolean {
  const selector: Selector = selectorFrom(labelSelector)
  const keys = matchLabelKeys.filter((key) => own?.[key] !== undefined)
  return (labels) => selector.matches(labels) && keys.every((key) => labels?.[key] === own?.[key])
}

function isIncluded(
  pod: Pod,
  { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }: DeepReadonly<TopologySpreadConstraint>,
  node: Node,
): boolean {
  if (nodeAffinityPolicy === 'Honor' && !matchesNode(pod.spec, node)) return false
  if (nodeTaintsPolicy !== 'Honor') return true
  return untoleratedTaint(node.spec?.taints, pod.spec.tolerations, ['NoSchedule', 'NoExecute']) === undefined
}
