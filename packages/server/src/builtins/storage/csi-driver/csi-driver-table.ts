import type { CSIDriver } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, booleanColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'

/** The columns of CSIDrivers. */
export const csiDriverTable: TableDefinition = defineTable<CSIDriver>([
  nameColumn,
  booleanColumn(
    'AttachRequired',
    'Whether volumes have to be attached to a node.',
    ({ spec }) => spec?.attachRequired ?? true,
  ),
  booleanColumn(
    'PodInfoOnMount',
    'Whether the driver gets information about the pod.',
    ({ spec }) => spec?.podInfoOnMount ?? false,
  ),
  booleanColumn(
    'StorageCapacity',
    'Whether the scheduler considers free capacity.',
    ({ spec }) => spec?.storageCapacity ?? false,
  ),
  textColumn('TokenRequests', 'Audiences of the tokens that the driver gets.', ({ spec }) =>
    spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience ?? '').join(',') : '<unset>',
  ),
  booleanColumn(
    'RequiresRepublish',
    'Whether the kubelet mounts volumes again periodically.',
    ({ spec }) => spec?.requiresRepublish ?? false,
  ),
  textColumn('Modes', 'Lifecycles of the volumes.', ({ spec }) => spec?.volumeLifecycleModes?.join(',') || '<none>'),
  ageColumn,
])
