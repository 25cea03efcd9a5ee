import type { PersistentVolume } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { quantityText } from '../../../table/human.ts'
import { accessModesText, volumeClassColumns, volumeModeColumn, volumePhase } from './volume-columns.ts'

/** The columns of PersistentVolumes. */
export const persistentVolumeTable: TableDefinition = defineTable<PersistentVolume>([
  nameColumn,
  textColumn('Capacity', 'Size of the volume.', ({ spec }) => quantityText(spec?.capacity?.['storage'])),
  textColumn('Access Modes', 'How nodes can mount the volume.', ({ spec }) => accessModesText(spec?.accessModes)),
  textColumn(
    'Reclaim Policy',
    'What happens to the volume when its claim is deleted.',
    ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
  ),
  textColumn('Status', 'Phase of the volume.', volumePhase),
  textColumn('Claim', 'Namespace and name of the claim.', ({ spec }) =>
    spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
  ),
  ...volumeClassColumns,
  textColumn('Reason', 'Why the volume failed.', ({ status }) => status?.reason ?? ''),
  ageColumn,
  volumeModeColumn,
])
