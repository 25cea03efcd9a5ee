import type { Pod } from '@kubewright/k8s'
import { configMapNamesOf, secretNamesOf } from '../../auth/node/pod-references.ts'

type PodSpec = NonNullable<Pod['spec']>
type Volume = NonNullable<PodSpec['volumes']>[number]
type Projection = NonNullable<NonNullable<Volume['projected']>['sources']>[number]

/** The first kind of API objects that a pod refers to; undefined when it refers to none (pkg/api/pod/util.go, HasAPIObjectReference). */
export function podReferenceProblem(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts'
  if (secretNamesOf(spec).length > 0) return 'secrets'
  if (configMapNamesOf(spec).length > 0) return 'configmaps'
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims'
  for (const volume of spec.volumes ?? []) {
    const problem = volumeProblem(volume)
    if (problem !== undefined) return problem
  }
  return undefined
}

function volumeProblem(volume: Volume): string | undefined {
  if (volume.configMap) return 'configmaps (via configmap volumes)'
  if (volume.secret) return 'secrets (via secret volumes)'
  if (volume.csi) return 'csidrivers (via CSI volumes)'
  if (volume.glusterfs) return 'endpoints (via glusterFS volumes)'
  if (volume.persistentVolumeClaim) return 'persistentvolumeclaims'
  if (volume.ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)'
  if (volume.azureFile) return 'secrets (via azureFile volumes)'
  for (const source of volume.projected?.sources ?? []) {
    const problem = projectionProblem(source)
    if (problem !== undefined) return problem
  }
  return undefined
}

function projectionProblem(source: Projection): string | undefined {
  if (source.configMap) return 'configmaps (via projected volumes)'
  if (source.secret) return 'secrets (via projected volumes)'
  if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)'
  if (source.clusterTrustBundle) return 'clustertrustbundles'
  if (source.podCertificate) return 'podcertificates'
  return undefined
}
