import type { PersistentVolumeClaim } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { quantityText } from '../../../table/human.ts'
import {
  accessModesText,
  volumeClassColumns,
  volumeModeColumn,
  volumePhase,
} from '../persistent-volume/volume-columns.ts'

/** The columns of PersistentVolumeClaims. Capacity and access modes are those of the volume, so an unbound claim shows none. */
export const persistentVolumeClaimTable: TableDefinition = defineTable<PersistentVolumeClaim>([
  nameColumn,
  textColumn('Status', 'Phase of the claim.', volumePhase),
  textColumn('Volume', 'Name of the volume.', ({ spec }) => spec?.volumeName ?? ''),
  textColumn('Capacity', 'Size of the volume.', ({ spec, status }) =>
    spec?.volumeName ? quantityText(status?.capacity?.['storage']) : '',
  ),
  textColumn('Access Modes', 'How nodes can mount the volume.', ({ spec, status }) =>
    spec?.volumeName ? accessModesText(status?.accessModes) : '',
  ),
  ...volumeClassColumns,
  ageColumn,
  volumeModeColumn,
])
