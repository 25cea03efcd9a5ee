import { defaultClaimSpec } from '../../persistent-volume-claim/claim-spec.ts'
import type { Volume } from '../pod-types.ts'
import { imageTag } from '../warnings/image-tag.ts'

const defaultMode = 0o644
const tokenExpirationSeconds = 3600

/** Fills the defaults of a volume. */
export function defaultVolume(volume: Volume): void {
  if (!Object.keys(volume).some((key) => key !== 'name' && volume[key as keyof Volume] != null)) volume.emptyDir = {}
  if (volume.image && !volume.image.pullPolicy) {
    volume.image.pullPolicy = imageTag(volume.image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  }
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.secret) volume.secret.defaultMode ??= defaultMode
  if (volume.configMap) volume.configMap.defaultMode ??= defaultMode
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= defaultMode
    defaultDownwardItems(volume.downwardAPI.items)
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= defaultMode
    for (const source of volume.projected.sources ?? []) {
      defaultDownwardItems(source.downwardAPI?.items)
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= tokenExpirationSeconds
    }
  }
  const claim = volume.ephemeral?.volumeClaimTemplate
  if (claim) defaultClaimSpec((claim.spec ??= {}))
  defaultNetworkVolume(volume)
}

function defaultDownwardItems(items: NonNullable<Volume['downwardAPI']>['items']): void {
  for (const { fieldRef, resourceFieldRef } of items ?? []) {
    if (fieldRef) fieldRef.apiVersion ||= 'v1'
    if (resourceFieldRef) resourceFieldRef.divisor ??= '0'
  }
}

function defaultNetworkVolume({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= 'default'
  if (rbd) {
    rbd.pool ||= 'rbd'
    rbd.user ||= 'admin'
    rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite'
    azureDisk.fsType ??= 'ext4'
    azureDisk.readOnly ??= false
    azureDisk.kind ??= 'Shared'
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned'
    scaleIO.fsType ||= 'xfs'
  }
}
