import type { Quantity } from '@kubewright/base'
import type { Container, PodSpec } from '../pod-types.ts'
import { addResources, maxResources } from './resource-list.ts'

type Which = 'requests' | 'limits'

/** Whether a pod may have requests and limits of the resource as a whole. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')
}

/** Whether an init container is a sidecar, which keeps running beside the regular containers. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always'
}

/** The sum of the requests of the containers of a pod, or the peak during initialization: init containers run one after another. */
export function aggregateContainerRequests(spec: PodSpec): Map<string, Quantity> {
  return aggregate(spec, 'requests')
}

/** As {@link aggregateContainerRequests}, for limits. */
export function aggregateContainerLimits(spec: PodSpec): Map<string, Quantity> {
  return aggregate(spec, 'limits')
}

function aggregate(spec: PodSpec, which: Which): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  for (const { resources } of spec.containers ?? []) addResources(total, resources?.[which])
  const sidecars = new Map<string, Quantity>()
  const peak = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const own = container.resources?.[which]
    if (isSidecar(container)) {
      addResources(total, own)
      addResources(sidecars, own)
      maxResources(peak, sidecars)
      continue
    }
    // An ordinary init container runs beside the sidecars that precede it.
    const during = new Map(sidecars)
    addResources(during, own)
    maxResources(peak, during)
  }
  maxResources(total, peak)
  return total
}
