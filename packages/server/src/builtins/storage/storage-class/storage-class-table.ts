import type { StorageClass } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, column, defineTable, type Loose, nameDefinition, textColumn } from '../../../table/columns.ts'

/** The columns of StorageClasses. The name shows which class is the default. */
export const storageClassTable: TableDefinition = defineTable<StorageClass>([
  column(nameDefinition, (storageClass) => {
    const name = storageClass.metadata?.name ?? ''
    return isDefault(storageClass) ? `${name} (default)` : name
  }),
  textColumn('Provisioner', 'Driver that creates the volumes.', ({ provisioner }) => provisioner ?? ''),
  textColumn(
    'ReclaimPolicy',
    'What happens to a volume when its claim is deleted.',
    ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete',
  ),
  textColumn(
    'VolumeBindingMode',
    'When a claim is bound to a volume.',
    ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate',
  ),
  textColumn(
    'AllowVolumeExpansion',
    'Whether volumes can grow.',
    ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  ),
  ageColumn,
])

function isDefault({ metadata }: Loose<StorageClass>): boolean {
  const annotations = metadata?.annotations ?? {}
  return (
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
  )
}
