import { isAlreadyExists } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { StorageClass } from '@kubewright/k8s'
import { simulatedProvisioner } from './provision-volume.ts'

const isDefault = 'storageclass.kubernetes.io/is-default-class'

/**
 * Creates the default StorageClass `standard`, so that claims without a class get a simulated volume, as in clusters of kind and minikube. A
 * control plane that has a StorageClass is left as it is.
 */
export async function createDefaultStorageClass(client: ApiClient): Promise<void> {
  if ((await client.list(StorageClass)).length > 0) return
  const metadata = { name: 'standard', annotations: { [isDefault]: 'true' } }
  try {
    await client.create(
      StorageClass({
        metadata,
        provisioner: simulatedProvisioner,
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'Immediate',
        allowVolumeExpansion: true,
      }),
    )
  } catch (error) {
    // Another server on the same store was faster.
    if (!isAlreadyExists(error)) throw error
  }
}
