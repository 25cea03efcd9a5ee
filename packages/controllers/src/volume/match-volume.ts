import { Quantity, selectorFrom } from '@kubewright/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@kubewright/k8s'

const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The storage class of a claim; empty for none. */
export function classOfClaim({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
}

/** The storage class of a volume; empty for none. */
function classOfVolume({ metadata, spec }: PersistentVolume): string {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? ''
}

/** Whether a volume refers to the claim; an empty uid in the reference matches any claim of that name. */
export function isBoundTo({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { name, namespace, uid = '' } = spec?.claimRef ?? {}
  if (name !== metadata.name || namespace !== metadata.namespace) return false
  return uid === '' || uid === metadata.uid
}

/**
 * Selects the best volume for a claim: a volume reserved for it, or else the smallest one with the fewest access modes
 * beyond the requested ones. With `delayed` (WaitForFirstConsumer) only a reserved volume matches.
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

/** The reason why a claim cannot use the volume that it names; undefined when it can. */
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
