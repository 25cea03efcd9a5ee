import { isAlreadyExists } from '@kubewright/api'
import { PersistentVolume, type PersistentVolumeClaim, type StorageClass } from '@kubewright/k8s'
import type { KeyContext } from '@kubewright/runtime'
import { classOfClaim } from './match-volume.ts'

/** The built-in provisioner. Its volumes exist in the API only, for simulated nodes. */
export const simulatedProvisioner = 'simulated.kubewright.dev'
/** The annotation with the provisioner of a volume. */
export const provisionedBy = 'pv.kubernetes.io/provisioned-by'
const provisionerAnnotation = 'volume.kubernetes.io/storage-provisioner'
const oldProvisionerAnnotation = 'volume.beta.kubernetes.io/storage-provisioner'

/**
 * Provisions a volume for a claim: creates it for the simulated provisioner, else annotates the claim for an external
 * one.
 */
export async function provisionVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  { client, events }: KeyContext,
): Promise<void> {
  const fail = (message: string): void =>
    events.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message })
  if (storageClass === undefined) {
    return fail(`storageclass.storage.k8s.io ${JSON.stringify(classOfClaim(claim))} not found`)
  }
  const { provisioner } = storageClass
  if (provisioner.startsWith('kubernetes.io/')) return fail(`no volume plugin matched name: ${provisioner}`)
  const { annotations } = claim.metadata
  if (annotations?.[provisionerAnnotation] !== provisioner) {
    const asked = { [provisionerAnnotation]: provisioner, [oldProvisionerAnnotation]: provisioner }
    const next = { ...claim, metadata: { ...claim.metadata, annotations: { ...annotations, ...asked } } }
    await client.update(next)
  }
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
  events.record(claim, { type: 'Normal', reason: 'ExternalProvisioning', message })
  if (provisioner !== simulatedProvisioner) return
  try {
    const made = await client.create(simulatedVolume(claim, storageClass))
    const text = `Successfully provisioned volume ${made.metadata.name}`
    const reason = 'ProvisioningSucceeded'
    events.record(claim, { type: 'Normal', reason, message: text, component: simulatedProvisioner })
  } catch (error) {
    // An earlier attempt created the volume; its claimRef refers to this claim.
    if (!isAlreadyExists(error)) throw error
  }
}

function simulatedVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): ReturnType<typeof PersistentVolume> {
  const { name, namespace = '', uid, resourceVersion } = claim.metadata
  const { mountOptions, reclaimPolicy = 'Delete' } = storageClass
  const { accessModes, resources, volumeMode, volumeAttributesClassName } = claim.spec ?? {}
  const volume = `pvc-${uid}`
  return PersistentVolume({
    metadata: { name: volume, annotations: { [provisionedBy]: simulatedProvisioner } },
    spec: {
      accessModes: [...(accessModes ?? [])],
      capacity: { storage: resources?.requests?.['storage'] ?? '0' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
      csi: { driver: simulatedProvisioner, volumeHandle: volume },
      ...(mountOptions === undefined ? {} : { mountOptions: [...mountOptions] }),
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
      volumeMode: volumeMode ?? 'Filesystem',
    },
  })
}
