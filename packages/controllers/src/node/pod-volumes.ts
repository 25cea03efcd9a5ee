import { parseKey } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import { type NodeSelector, PersistentVolume, PersistentVolumeClaim, type Pod, StorageClass } from '@kubewright/k8s'
import type { KeyContext } from '@kubewright/runtime'
import { claimsOf } from '../volume/claims-of-pod.ts'
import { classOfClaim } from '../volume/match-volume.ts'

/** The state of the claims of a pod that waits for a node. */
export interface VolumeFacts {
  /** Why the pod fits on no node. */
  readonly obstacle?: string | undefined
  /** The node selectors of the bound volumes. */
  readonly volumeNodes: readonly DeepReadonly<NodeSelector>[]
  /** The claims that are bound once a node is selected. */
  readonly delayed: readonly PersistentVolumeClaim[]
}

/**
 * Reads the claims of a pod and watches them, so that their changes cause another scheduling pass. The obstacles and their
 * texts are those of the plugin VolumeBinding of kube-scheduler.
 */
export async function volumeFacts(pod: Pod, { watch, client }: KeyContext): Promise<VolumeFacts> {
  const volumeNodes: DeepReadonly<NodeSelector>[] = []
  const delayed: PersistentVolumeClaim[] = []
  let isUnbound = false
  const ephemeral = new Set(
    (pod.spec.volumes ?? []).flatMap((volume) => (volume.ephemeral ? [`${pod.metadata.name}-${volume.name}`] : [])),
  )
  for (const key of claimsOf(pod)) {
    const claim = await watch(PersistentVolumeClaim, key)
    const { name } = parseKey(key)
    const fail = (obstacle: string): VolumeFacts => ({ obstacle, volumeNodes: [], delayed: [] })
    if (claim === undefined) {
      if (!ephemeral.has(name)) return fail(`persistentvolumeclaim "${name}" not found`)
      return fail(`waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`)
    }
    if (claim.status?.phase === 'Lost') {
      const { volumeName = '' } = claim.spec ?? {}
      return fail(`persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volumeName}"`)
    }
    if (claim.metadata.deletionTimestamp !== undefined) return fail(`persistentvolumeclaim "${name}" is being deleted`)
    const { volumeName = '' } = claim.spec ?? {}
    if (claim.status?.phase === 'Bound' && volumeName !== '') {
      const volume = await client.find(PersistentVolume, volumeName)
      const required = volume?.spec?.nodeAffinity?.required
      if (required !== undefined) volumeNodes.push(required)
    } else if (volumeName === '' && (await isDelayed(claim, client))) delayed.push(claim)
    else isUnbound = true
  }
  const obstacle = isUnbound ? { obstacle: 'pod has unbound immediate PersistentVolumeClaims' } : {}
  return { ...obstacle, volumeNodes, delayed }
}

async function isDelayed(claim: PersistentVolumeClaim, client: KeyContext['client']): Promise<boolean> {
  const name = classOfClaim(claim)
  const storageClass = name === '' ? undefined : await client.find(StorageClass, name)
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}
