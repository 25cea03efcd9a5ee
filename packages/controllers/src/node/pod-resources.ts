import { type DeepReadonly, Quantity } from '@kubewright/base'
import type { Container, Node, Pod } from '@kubewright/k8s'

/** Amounts by resource name, in thousandths. */
export type Amounts = Map<string, bigint>

/** The requests that pods share, by their content. The pods of a workload have equal requests. */
const shared = new Map<string, ReadonlyMap<string, bigint>>()
const maxShared = 1000

/**
 * The resource requests of a pod: the sum of its containers and sidecars, or what an init container needs next to the
 * sidecars that were started before it, if that is more; requests of the pod itself take precedence. Plus the overhead. As in
 * component-helpers/resource.
 */
export function requestsOf(pod: Pod): ReadonlyMap<string, bigint> {
  const requests = sumOfRequests(pod)
  const content = [...requests].join()
  const known = shared.get(content)
  if (known !== undefined) return known
  if (shared.size >= maxShared) shared.clear()
  shared.set(content, requests)
  return requests
}

function sumOfRequests(pod: Pod): Amounts {
  const total: Amounts = new Map([['pods', 1000n]])
  for (const container of pod.spec.containers) addAll(total, requests(container))
  const sidecars: Amounts = new Map()
  const peak: Amounts = new Map()
  for (const container of pod.spec.initContainers ?? []) {
    const needs = requests(container)
    if (container.restartPolicy === 'Always') {
      addAll(total, needs)
      addAll(sidecars, needs)
    } else addAll(needs, sidecars)
    for (const [name, amount] of needs) if (amount > (peak.get(name) ?? 0n)) peak.set(name, amount)
  }
  for (const [name, amount] of peak) if (amount > (total.get(name) ?? 0n)) total.set(name, amount)
  for (const [name, amount] of amounts(pod.spec.resources?.requests)) total.set(name, amount)
  addAll(total, amounts(pod.spec.overhead))
  return total
}

/** The resources that a node has for pods. */
export const allocatableOf = (node: Node): Amounts => amounts(node.status?.allocatable ?? node.status?.capacity)

function requests(container: DeepReadonly<Container>): Amounts {
  return amounts(container.resources?.requests)
}

function amounts(list: Readonly<Record<string, number | string>> | undefined): Amounts {
  const result: Amounts = new Map()
  for (const [name, value] of Object.entries(list ?? {})) {
    result.set(name, Quantity.tryParse(String(value))?.milliValue() ?? 0n)
  }
  return result
}

/** Adds amounts to a sum in place. */
export function addAll(sum: Amounts, more: ReadonlyMap<string, bigint>): void {
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0n) + amount)
}
