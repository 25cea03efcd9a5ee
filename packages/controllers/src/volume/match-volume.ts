import { Quantity, selectorFrom } from '@kubewright/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@kubewright/k8s'

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The storage class that a claim asks for; empty for none. */
export function classOfClaim({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
}

/** The storage class of a volume; empty for none. */
function classOfVolume({ metadata, spec }: PersistentVolume): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
}

/** Whether a volume names the claim as its own; its uid may be left open. */
export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid = '' } = spec?.claimRef ?? {}
  if (name !== metadata.name || namespace !== metadata.namespace) return false
  return uid === '' || uid === metadata.uid
}

/**
 * The volume that suits a claim best: one that was made for it, or else the smallest of those with the fewest access modes beyond
 * what is asked for. With `delayed` only the former: the pod that uses the claim decides where its volume is.
 */
export function matchVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  delayed: boolean,
): PersistentVolume | undefined {
  const reserved = volumes.find((volume) => isBoundTo(volume, claim) && fits(volume, claim))
  if (reserved !== undefined || delayed) return reserved
  const { selector } = claim.spec ?? {}
  const candidates = volumes.filter(
    (volume) =>
      volume.spec?.claimRef === undefined &&
      volume.status?.phase === 'Available' &&
      fits(volume, claim) &&
      classOfVolume(volume) === classOfClaim(claim) &&
      hasAccessModes(volume, claim) &&
      (selector === undefined || selectorFrom(selector).matches(volume.metadata.labels)),
  )
  const modes = ({ spec }: PersistentVolume): number => spec?.accessModes?.length ?? 0
  candidates.sort((a, b) => modes(a) - modes(b) || sizeOf(a).cmp(sizeOf(b)))
  return candidates[0]
}

/** Why a volume that a claim names cannot be its; undefined when it can. */
export function mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion ${JSON.stringify(volume.metadata.name)}`
  }
  if (sizeOf(volume).cmp(wantedSize(claim)) < 0) return 'requested PV is too small'
  if (classOfVolume(volume) !== classOfClaim(claim)) return 'storageClassName does not match'
  if (attributesOf(volume) !== attributesOf(claim)) return 'volumeAttributesClassName does not match'
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode'
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode'
}

function fits(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    sizeOf(volume).cmp(wantedSize(claim)) >= 0 &&
    modeOf(volume) === modeOf(claim) &&
    attributesOf(volume) === attributesOf(claim)
  )
}

function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = new Set(volume.spec?.accessModes ?? [])
  return (claim.spec?.accessModes ?? []).every((mode) => offered.has(mode))
}

const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.volumeMode ?? 'Filesystem'
const attributesOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string =>
  spec?.volumeAttributesClassName ?? ''
const sizeOf = ({ spec }: PersistentVolume): Quantity => Quantity.parse(String(spec?.capacity?.['storage'] ?? '0'))
const wantedSize = ({ spec }: PersistentVolumeClaim): Quantity =>
  Quantity.parse(String(spec?.resources?.requests?.['storage'] ?? '0'))
