import { FieldPath } from '@kubewright/schema'
import type { PodSpec } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'

/**
 * Removes fields whose feature gate is off by default in this version. kube-apiserver accepts such fields and drops them silently
 * (pkg/api/pod, DropDisabledPodFields).
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
