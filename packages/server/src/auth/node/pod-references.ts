import { append } from '@kubewright/base'
import type { PersistentVolume, Pod } from '@kubewright/k8s'

type PodSpec = NonNullable<Pod['spec']>
type Container = PodSpec['containers'][number]
type Named = { readonly name?: string | undefined } | null | undefined

/** The annotation of pods that represent a static pod of a kubelet. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

function containersOf(spec: PodSpec): readonly Pick<Container, 'env' | 'envFrom'>[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

const isName = (name: string | undefined): name is string => name !== undefined && name !== ''

const namesOf = (references: readonly Named[]): string[] => references.map((one) => one?.name).filter(isName)

/** The Secrets that a pod refers to itself, not through a volume claim (pkg/api/v1/pod/util.go). */
export function secretNamesOf(spec: PodSpec): string[] {
  const names = namesOf(spec.imagePullSecrets ?? [])
  for (const { env, envFrom } of containersOf(spec)) {
    append(names, namesOf((envFrom ?? []).map(({ secretRef }) => secretRef)))
    append(names, namesOf((env ?? []).map(({ valueFrom }) => valueFrom?.secretKeyRef)))
  }
  for (const volume of spec.volumes ?? []) {
    const { azureFile, secret, projected, csi } = volume
    const references = [
      { name: azureFile?.secretName },
      { name: secret?.secretName },
      csi?.nodePublishSecretRef,
      ...[volume.cephfs, volume.cinder, volume.flexVolume, volume.rbd, volume.scaleIO, volume.iscsi].map(
        (source) => source?.secretRef,
      ),
      volume.storageos?.secretRef,
      ...(projected?.sources ?? []).map((source) => source.secret),
    ]
    append(names, namesOf(references))
  }
  return names
}

/** The ConfigMaps that a pod refers to (pkg/api/v1/pod/util.go). */
export function configMapNamesOf(spec: PodSpec): string[] {
  const names: string[] = []
  for (const { env, envFrom } of containersOf(spec)) {
    append(names, namesOf((envFrom ?? []).map(({ configMapRef }) => configMapRef)))
    append(names, namesOf((env ?? []).map(({ valueFrom }) => valueFrom?.configMapKeyRef)))
  }
  for (const { configMap, projected } of spec.volumes ?? []) {
    append(names, namesOf([configMap, ...(projected?.sources ?? []).map((source) => source.configMap)]))
  }
  return names
}

/** The PersistentVolumeClaims of a pod, those of ephemeral volumes included. */
export function claimNamesOf({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): string[] {
  return (spec?.volumes ?? [])
    .map(({ name, persistentVolumeClaim, ephemeral }) =>
      persistentVolumeClaim ? persistentVolumeClaim.claimName : ephemeral ? `${metadata.name}-${name}` : undefined,
    )
    .filter(isName)
}

/** The ResourceClaims of a pod. A claim of a template counts once it has been created. */
export function resourceClaimNamesOf({ spec, status }: Pick<Pod, 'spec' | 'status'>): string[] {
  const created = new Map((status?.resourceClaimStatuses ?? []).map((one) => [one.name, one.resourceClaimName]))
  return [
    ...(spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => resourceClaimName ?? created.get(name)),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ].filter(isName)
}

/** The Secrets, as namespace and name, that a kubelet needs to mount a volume (pkg/api/v1/persistentvolume/util.go). */
export function volumeSecretsOf({ spec }: Pick<PersistentVolume, 'spec'>): (readonly [string, string])[] {
  if (!spec) return []
  const home = spec.claimRef?.namespace ?? ''
  const { azureFile, csi } = spec
  const bySource = [spec.cephfs, spec.flexVolume, spec.rbd, spec.scaleIO, spec.iscsi].map((source) => source?.secretRef)
  const found: (readonly [string | undefined, string | undefined])[] = [
    [azureFile?.secretNamespace || home, azureFile?.secretName],
    // Older volumes leave out the namespace, which is then that of the claim.
    ...bySource.map((one) => [one?.namespace || home, one?.name] as const),
    ...[
      spec.cinder?.secretRef,
      spec.storageos?.secretRef,
      csi?.nodePublishSecretRef,
      csi?.nodeStageSecretRef,
      csi?.nodeExpandSecretRef,
    ].map((one) => [one?.namespace, one?.name] as const),
  ]
  return found.flatMap(([namespace, name]) => (isName(name) ? [[namespace ?? '', name] as const] : []))
}
