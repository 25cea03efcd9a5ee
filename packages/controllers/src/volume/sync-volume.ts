import { isNotFound } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { PersistentVolume, PersistentVolumeClaim } from '@kubewright/k8s'
import type { KeyContext } from '@kubewright/runtime'
import { setPhase, unbindVolume } from './bind-volume.ts'
import { provisionedBy, simulatedProvisioner } from './provision-volume.ts'

/** Maintains the phase of a volume, and applies the reclaim policy when its claim is gone. */
export async function syncVolume(volume: PersistentVolume, context: KeyContext, api: ApiClient): Promise<void> {
  const { client } = context
  const { claimRef } = volume.spec ?? {}
  if (claimRef?.uid === undefined || claimRef.uid === '') {
    await setPhase(client, volume, 'Available')
    return
  }
  const { name = '', namespace = '', uid } = claimRef
  const key = { name, namespace }
  let claim = await client.find(PersistentVolumeClaim, key)
  // Releasing a volume is irreversible, so confirm with the server that the claim is gone.
  if (claim?.metadata.uid !== uid) claim = await api.find(PersistentVolumeClaim, key, { signal: context.signal })
  const bound = claim?.spec?.volumeName ?? ''
  if (claim === undefined || claim.metadata.uid !== uid) return release(volume, context)
  if (bound === volume.metadata.name) {
    await setPhase(client, volume, 'Bound')
  } else if (bound !== '') {
    const { annotations } = volume.metadata
    const madeForIt = annotations?.[provisionedBy] !== undefined
    if (madeForIt && volume.spec?.persistentVolumeReclaimPolicy === 'Delete') return release(volume, context)
    await unbindVolume(client, volume)
  } else if ((claim.spec?.volumeMode ?? 'Filesystem') !== (volume.spec?.volumeMode ?? 'Filesystem')) {
    tellMismatch(volume, claim, context)
  }
}

function tellMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim, { events }: KeyContext): void {
  const [ofVolume, ofClaim] = [volume, claim].map(({ metadata }) => JSON.stringify(metadata.name))
  const why = 'due to incompatible volumeMode.'
  const reason = 'VolumeMismatch'
  const toVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim ${ofClaim} ${why}`
  events.record(volume, { type: 'Warning', reason, message: toVolume })
  const toClaim = `Cannot bind PersistentVolume ${ofVolume} to requested PersistentVolumeClaim ${why}`
  events.record(claim, { type: 'Warning', reason, message: toClaim })
}

/** Applies the reclaim policy to a volume whose claim is gone. */
async function release(volume: PersistentVolume, context: KeyContext): Promise<void> {
  const { client } = context
  const failed = volume.status?.phase === 'Failed'
  const released = failed ? volume : await setPhase(client, volume, 'Released')
  const { metadata, spec } = released
  if (spec?.persistentVolumeReclaimPolicy === 'Recycle') {
    return fail(released, context, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!')
  }
  if (spec?.persistentVolumeReclaimPolicy !== 'Delete' || metadata.deletionTimestamp !== undefined) return
  const by = metadata.annotations?.[provisionedBy]
  if (by === simulatedProvisioner) {
    try {
      await client.delete(PersistentVolume, metadata.name)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  } else if (by === undefined && spec.csi === undefined) {
    const message = `error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: no deletable volume plugin matched`
    await fail(released, context, 'VolumeFailedDelete', message)
  }
}

async function fail(
  volume: PersistentVolume,
  { client, events }: KeyContext,
  reason: string,
  message: string,
): Promise<void> {
  if (volume.status?.phase === 'Failed' && volume.status.message === message) return
  await setPhase(client, volume, 'Failed', message)
  events.record(volume, { type: 'Warning', reason, message })
}
