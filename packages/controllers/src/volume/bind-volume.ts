import type { Client } from '@kubewright/client'
import { PersistentVolume, PersistentVolumeClaim } from '@kubewright/k8s'
import { writeStatus } from '../workload/write-status.ts'
import { isBoundTo } from './match-volume.ts'

/** The annotation for a binding that this controller chose, and may therefore undo. */
export const boundByController = 'pv.kubernetes.io/bound-by-controller'
/** The annotation for a claim that was bound completely once. */
export const bindCompleted = 'pv.kubernetes.io/bind-completed'

/** Binds a volume and a claim to each other. Idempotent: continues an interrupted binding. */
export async function bindVolume(
  client: Client,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const bound = await setPhase(client, await toClaim(client, volume, claim), 'Bound')
  const complete = await toVolume(client, claim, bound)
  await writeStatus(client, PersistentVolumeClaim, complete, {
    ...complete.status,
    phase: 'Bound',
    accessModes: bound.spec?.accessModes,
    capacity: bound.spec?.capacity,
  })
}

/** Writes the phase of a volume, with a message for failures. */
export async function setPhase(
  client: Client,
  volume: PersistentVolume,
  phase: 'Available' | 'Bound' | 'Released' | 'Failed',
  message?: string,
): Promise<PersistentVolume> {
  const { message: _, lastPhaseTransitionTime: since, ...rest } = volume.status ?? {}
  if (volume.status?.phase === phase && (volume.status.message ?? '') === (message ?? '')) return volume
  const status = { ...rest, phase, ...(message === undefined ? {} : { message }) }
  // The server sets the transition time when the phase changes.
  const kept = since === undefined ? {} : { lastPhaseTransitionTime: since }
  return writeStatus(client, PersistentVolume, volume, { ...status, ...kept })
}

/** Removes the claim from a volume. A volume that a user reserved by claim name keeps the reservation. */
export async function unbindVolume(client: Client, volume: PersistentVolume): Promise<void> {
  const { claimRef, ...spec } = volume.spec ?? {}
  const { [boundByController]: chosen, ...annotations } = volume.metadata.annotations ?? {}
  const { uid: _u, resourceVersion: _v, ...reserved } = claimRef ?? {}
  const next = {
    ...volume,
    metadata: { ...volume.metadata, annotations },
    spec: chosen === undefined ? { ...spec, claimRef: reserved } : spec,
  }
  await setPhase(client, await client.update(next as PersistentVolume), 'Available')
}

async function toClaim(
  client: Client,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<PersistentVolume> {
  const { claimRef } = volume.spec ?? {}
  if (claimRef?.uid === claim.metadata.uid) return volume
  const { name, namespace, uid, resourceVersion } = claim.metadata
  const mark = isBoundTo(volume, claim) ? {} : { [boundByController]: 'yes' }
  const next = {
    ...volume,
    metadata: { ...volume.metadata, annotations: { ...volume.metadata.annotations, ...mark } },
    spec: {
      ...volume.spec,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
    },
  }
  return client.update(next as PersistentVolume)
}

async function toVolume(
  client: Client,
  claim: PersistentVolumeClaim,
  { metadata: { name } }: PersistentVolume,
): Promise<PersistentVolumeClaim> {
  const { annotations } = claim.metadata
  const { volumeName = '' } = claim.spec ?? {}
  if (volumeName === name && annotations?.[bindCompleted] !== undefined) return claim
  const mark = volumeName === '' ? { [boundByController]: 'yes' } : {}
  const next = {
    ...claim,
    metadata: { ...claim.metadata, annotations: { ...annotations, ...mark, [bindCompleted]: 'yes' } },
    spec: { ...claim.spec, volumeName: name },
  }
  return client.update(next as PersistentVolumeClaim)
}
