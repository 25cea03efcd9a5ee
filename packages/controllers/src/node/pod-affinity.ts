import { selectorFrom } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Node, Pod, PodAffinityTerm } from '@kubewright/k8s'
import type { NodeLoad, PlacedPod } from './cluster-ledger.ts'

/** The labels of all namespaces by name, for terms with a namespace selector. */
export type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>> | undefined>

type Term = DeepReadonly<PodAffinityTerm>

/** A violated rule. */
export interface AffinityProblem {
  readonly reason: string
  /** Whether the rule would be violated without the other pods too. */
  readonly final: boolean
}

/**
 * Checks required pod affinity and anti-affinity of this pod, and required anti-affinity of the existing pods. `repelling`
 * are the loads among `loads` that have pods with required anti-affinity.
 */
export function affinityProblem(
  pod: Pod,
  placed: PlacedPod,
  { node }: NodeLoad,
  loads: readonly NodeLoad[],
  repelling: readonly NodeLoad[],
  namespaces: NamespaceLabels,
): AffinityProblem | undefined {
  const isNear = (term: Term): boolean => {
    const zone = zoneOf(node, term)
    const inZone = (load: NodeLoad): boolean => zoneOf(load.node, term) === zone
    return zone !== undefined && loads.some((load) => inZone(load) && has(load, term, placed, namespaces))
  }
  for (const term of pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (isNear(term)) continue
    // The first pod of a group matches its own affinity term; otherwise it could never start.
    const first =
      selects(term, placed, placed, namespaces) && !loads.some((load) => has(load, term, placed, namespaces))
    if (first && zoneOf(node, term) !== undefined) continue
    return { reason: "node(s) didn't match pod affinity rules", final: true }
  }
  if (placed.repels.some(isNear)) return { reason: "node(s) didn't match pod anti-affinity rules", final: false }
  for (const load of repelling) {
    for (const other of load.repelling) {
      for (const term of other.repels) {
        const zone = zoneOf(load.node, term)
        if (zone !== undefined && zone === zoneOf(node, term) && selects(term, other, placed, namespaces)) {
          return { reason: "node(s) didn't satisfy existing pods anti-affinity rules", final: false }
        }
      }
    }
  }
  return undefined
}

/** The weights of preferred pod affinity that a node satisfies, minus those of preferred anti-affinity. */
export function preferredAffinity(
  { spec: { affinity } }: Pod,
  placed: PlacedPod,
  { node }: NodeLoad,
  loads: readonly NodeLoad[],
  namespaces: NamespaceLabels,
): number {
  const near = (term: Term): number => {
    const zone = zoneOf(node, term)
    let count = 0
    if (zone === undefined) return count
    for (const load of loads) {
      if (zoneOf(load.node, term) !== zone) continue
      for (const other of load.pods.values()) if (selects(term, placed, other, namespaces)) count++
    }
    return count
  }
  let score = 0
  for (const { podAffinityTerm, weight } of affinity?.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ??
    []) {
    score += weight * near(podAffinityTerm)
  }
  for (const { podAffinityTerm, weight } of affinity?.podAntiAffinity
    ?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
    score -= weight * near(podAffinityTerm)
  }
  return score
}

/** Whether any term has a namespace selector that needs the labels of namespaces. */
export function selectsNamespaces({ spec: { affinity } }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = affinity ?? {}
  return [podAffinity, podAntiAffinity].some(
    (kind) =>
      kind?.requiredDuringSchedulingIgnoredDuringExecution?.some(hasNamespaceSelector) ||
      kind?.preferredDuringSchedulingIgnoredDuringExecution?.some(({ podAffinityTerm }) =>
        hasNamespaceSelector(podAffinityTerm),
      ),
  )
}

/** Whether the term has a namespace selector that does not match every namespace. */
export const hasNamespaceSelector = ({ namespaceSelector }: Term): boolean =>
  namespaceSelector !== undefined && Object.keys(namespaceSelector).length > 0

const zoneOf = (node: Node, { topologyKey }: Term): string | undefined => node.metadata.labels?.[topologyKey]

function has({ pods }: NodeLoad, term: Term, owner: PlacedPod, namespaces: NamespaceLabels): boolean {
  for (const other of pods.values()) if (selects(term, owner, other, namespaces)) return true
  return false
}

function selects(term: Term, owner: PlacedPod, other: PlacedPod, labelsOf: NamespaceLabels): boolean {
  if (!isInNamespaces(term, owner, other, labelsOf)) return false
  return selectorFrom(term.labelSelector).matches(other.labels)
}

function isInNamespaces(
  { namespaces = [], namespaceSelector }: Term,
  owner: PlacedPod,
  other: PlacedPod,
  labelsOf: NamespaceLabels,
): boolean {
  if (namespaces.includes(other.namespace)) return true
  if (namespaceSelector === undefined) return namespaces.length === 0 && other.namespace === owner.namespace
  return (
    Object.keys(namespaceSelector).length === 0 ||
    selectorFrom(namespaceSelector).matches(labelsOf.get(other.namespace))
  )
}
