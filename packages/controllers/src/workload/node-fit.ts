import type { DeepReadonly } from '@kubewright/base'
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration } from '@kubewright/k8s'

type Requirement = DeepReadonly<NodeSelectorRequirement>

/** The scheduling constraints of a pod spec. */
export type Placement = DeepReadonly<Pick<PodSpec, 'nodeName' | 'nodeSelector' | 'affinity' | 'tolerations'>>

/** Whether the node matches the node selector and the required node affinity. */
export function matchesNode(placement: Placement, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  const selected = Object.entries(placement.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  const required = placement.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (!selected || required === undefined) return selected
  return required.nodeSelectorTerms.some((term) => matchesTerm(term, node))
}

/** Whether the node matches a node selector term. An empty term matches nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: DeepReadonly<NodeSelectorTerm>,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const labels = metadata.labels ?? {}
  const fields = { 'metadata.name': metadata.name }
  return matchExpressions.every((one) => holds(one, labels)) && matchFields.every((one) => holds(one, fields))
}

function holds({ key, operator, values = [] }: Requirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default: {
      const [have, limit] = [integer(value), integer(values[0])]
      if (have === undefined || limit === undefined) return false
      return operator === 'Gt' ? have > limit : have < limit
    }
  }
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?[0-9]+$/.test(text) ? Number(text) : undefined
}

/** The first taint with one of these effects that no toleration tolerates. */
export function untoleratedTaint(
  taints: readonly DeepReadonly<Taint>[] | undefined,
  tolerations: readonly DeepReadonly<Toleration>[] | undefined,
  effects: readonly Taint['effect'][],
): DeepReadonly<Taint> | undefined {
  return taints?.find(
    (taint) => effects.includes(taint.effect) && !tolerations?.some((toleration) => tolerates(toleration, taint)),
  )
}

/** Whether the toleration tolerates the taint. */
export function tolerates(toleration: DeepReadonly<Toleration>, taint: DeepReadonly<Taint>): boolean {
  const { effect, key, operator = 'Equal', value = '' } = toleration
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return operator === 'Equal' && Boolean(key) && value === (taint.value ?? '')
}
