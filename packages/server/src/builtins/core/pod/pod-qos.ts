import type { Quantity } from '@kubewright/base'
import type { PodSpec, ResourceList } from './pod-types.ts'
import { addResources, quantityOf } from './resources/resource-list.ts'

const computeResources = ['cpu', 'memory']

/** The quality of service class of a pod, derived from its requests and limits. */
export function podQosClass(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests = new Map<string, Quantity>()
  const limits = new Map<string, Quantity>()
  let guaranteed = true
  const add = (own: { requests?: ResourceList | undefined; limits?: ResourceList | undefined }): void => {
    addResources(requests, positive(own.requests))
    const limited = positive(own.limits)
    addResources(limits, limited)
    if (!computeResources.every((name) => limited[name] !== undefined)) guaranteed = false
  }
  if (spec.resources) {
    const { requests: own, limits: bounds } = spec.resources
    addResources(requests, positive(own))
    if (Object.keys(bounds ?? {}).length > 0) add({ limits: bounds })
  } else {
    for (const { resources = {} } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) add(resources)
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  if (guaranteed) {
    for (const [name, amount] of requests) {
      const limit = limits.get(name)
      if (limit?.cmp(amount) !== 0) guaranteed = false
    }
  }
  return guaranteed && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

function positive(list: ResourceList | undefined): ResourceList {
  const result: ResourceList = {}
  for (const name of computeResources) {
    const amount = list?.[name]
    if (amount !== undefined && quantityOf(amount).sign > 0) result[name] = amount
  }
  return result
}
