import { FieldPath } from '@kubewright/schema'
import type { PodSpec } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'

/**
 * Removes what only features know that are off by default in this version: the API server takes such fields and drops them without a
 * word (pkg/api/pod, DropDisabledPodFields).
 */
export function dropDisabledFields(spec: PodSpec): void {
  delete spec.workloadRef
  for (const { projected } of spec.volumes ?? []) {
    for (const source of projected?.sources ?? []) {
      delete source.clusterTrustBundle
      delete source.podCertificate
    }
  }
  visitContainers(spec, FieldPath.none, (container) => {
    const { lifecycle } = container
    if (lifecycle?.stopSignal === undefined) return
    delete lifecycle.stopSignal
    if (!lifecycle.postStart && !lifecycle.preStop) delete container.lifecycle
  })
}
