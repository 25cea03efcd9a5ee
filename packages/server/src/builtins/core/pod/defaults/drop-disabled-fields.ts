import { FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../../../../resource/object.ts'
import type { Strategy } from '../../../../resource/strategy.ts'
import type { PodSpec, PodTemplate } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'

/**
 * Adds the removal of fields whose feature gate is off by default to the strategy of a kind with a pod spec. kube-apiserver accepts such
 * fields and drops them silently (pkg/api/pod, DropDisabledPodFields). It does so after it has recorded the managed fields, which
 * therefore contain them, and after admission, which sees them.
 */
export function withoutDisabledFields(
  strategy: Strategy,
  specOf: (object: MutableObject) => PodSpec | undefined = templateSpec,
): Strategy {
  return {
    ...strategy,
    prepareForCreate: (object, context) => {
      dropDisabledFields(specOf(object))
      strategy.prepareForCreate?.(object, context)
    },
    prepareForUpdate: (object, old, context) => {
      dropDisabledFields(specOf(object))
      strategy.prepareForUpdate?.(object, old, context)
    },
  }
}

function templateSpec(object: MutableObject): PodSpec | undefined {
  return (object['spec'] as { readonly template?: PodTemplate | undefined } | undefined)?.template?.spec
}

function dropDisabledFields(spec: PodSpec | undefined): void {
  if (!spec) return
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
