import type { PersistentVolume, PersistentVolumeClaim } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn, wideColumn } from '../columns.ts'
import { ageOf, quantityText } from '../human.ts'

/** Tables of volumes and the claims to them. */
export const volumeTables: Readonly<Record<string, TableDefinition>> = {
  '/persistentvolumes': printer<PersistentVolume>(
    [
      nameColumn,
      textColumn('Capacity', columnTexts['PersistentVolumeSpec.capacity']),
      textColumn('Access Modes', columnTexts['PersistentVolumeSpec.accessModes']),
      textColumn('Reclaim Policy', columnTexts['PersistentVolumeSpec.persistentVolumeReclaimPolicy']),
      textColumn('Status', columnTexts['PersistentVolumeStatus.phase']),
      textColumn('Claim', columnTexts['PersistentVolumeSpec.claimRef']),
      textColumn('StorageClass', 'StorageClass of the pv'),
      textColumn('VolumeAttributesClass', 'VolumeAttributesClass of the pv'),
      textColumn('Reason', columnTexts['PersistentVolumeStatus.reason']),
      ageColumn,
      wideColumn('VolumeMode', columnTexts['PersistentVolumeSpec.volumeMode']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      quantityText(spec?.capacity?.['storage']),
      accessModesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
      metadata?.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      status?.reason ?? '',
      ageOf(metadata?.creationTimestamp, now),
      spec?.volumeMode ?? '<unset>',
    ],
  ),
  '/persistentvolumeclaims': printer<PersistentVolumeClaim>(
    [
      nameColumn,
      textColumn('Status', columnTexts['PersistentVolumeClaimStatus.phase']),
      textColumn('Volume', columnTexts['PersistentVolumeClaimSpec.volumeName']),
      textColumn('Capacity', columnTexts['PersistentVolumeClaimStatus.capacity']),
      textColumn('Access Modes', columnTexts['PersistentVolumeClaimStatus.accessModes']),
      textColumn('StorageClass', 'StorageClass of the pvc'),
      textColumn('VolumeAttributesClass', 'VolumeAttributesClass of the pvc'),
      ageColumn,
      wideColumn('VolumeMode', columnTexts['PersistentVolumeClaimSpec.volumeMode']),
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
      spec?.volumeName ?? '',
      // What the claim got, not what it asked for: nothing before it is bound.
      spec?.volumeName ? quantityText(status?.capacity?.['storage']) : '',
      spec?.volumeName ? accessModesText(status?.accessModes) : '',
      metadata?.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? '<unset>',
      ageOf(metadata?.creationTimestamp, now),
      spec?.volumeMode ?? '<unset>',
    ],
  ),
}

/** Where the storage class stood before it became a field; it still wins. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class'

const shortModes = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
} as const

function accessModesText(modes: Loose<PersistentVolumeClaim['spec']['accessModes']> | null | undefined): string {
  return Object.entries(shortModes)
    .filter(([mode]) => modes?.some((given) => given === mode))
    .map(([, short]) => short)
    .join(',')
}
