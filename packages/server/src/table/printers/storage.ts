import type { CSIDriver, CSINode, StorageClass, VolumeAttachment, VolumeAttributesClass } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, booleanColumn, integerColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'

/** Tables of the group storage.k8s.io. */
export const storageTables: Readonly<Record<string, TableDefinition>> = {
  'storage.k8s.io/storageclasses': printer<StorageClass>(
    [
      nameColumn,
      textColumn('Provisioner', columnTexts['StorageClass.provisioner']),
      textColumn('ReclaimPolicy', columnTexts['StorageClass.reclaimPolicy']),
      textColumn('VolumeBindingMode', columnTexts['StorageClass.volumeBindingMode']),
      textColumn('AllowVolumeExpansion', columnTexts['StorageClass.allowVolumeExpansion']),
      ageColumn,
    ],
    (storageClass, now) => [
      `${storageClass.metadata?.name ?? ''}${isDefault(storageClass) ? ' (default)' : ''}`,
      storageClass.provisioner ?? '',
      storageClass.reclaimPolicy ?? 'Delete',
      storageClass.volumeBindingMode ?? 'Immediate',
      storageClass.allowVolumeExpansion ?? false,
      ageOf(storageClass.metadata?.creationTimestamp, now),
    ],
  ),
  'storage.k8s.io/volumeattributesclasses': printer<VolumeAttributesClass>(
    [nameColumn, textColumn('DriverName', columnTexts['VolumeAttributesClass.driverName']), ageColumn],
    ({ metadata, driverName }, now) => [
      metadata?.name ?? '',
      driverName ?? '',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'storage.k8s.io/volumeattachments': printer<VolumeAttachment>(
    [
      nameColumn,
      { ...textColumn('Attacher', columnTexts['VolumeAttachmentSpec.attacher']), format: 'name' },
      textColumn('PV', columnTexts['VolumeAttachmentSource.persistentVolumeName']),
      textColumn('Node', columnTexts['VolumeAttachmentSpec.nodeName']),
      booleanColumn('Attached', columnTexts['VolumeAttachmentStatus.attached']),
      ageColumn,
    ],
    ({ metadata, spec, status }, now) => [
      metadata?.name ?? '',
      spec?.attacher ?? '',
      spec?.source?.persistentVolumeName ?? '',
      spec?.nodeName ?? '',
      status?.attached ?? false,
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'storage.k8s.io/csinodes': printer<CSINode>(
    [
      nameColumn,
      integerColumn('Drivers', 'Drivers indicates the number of CSI drivers registered on the node'),
      ageColumn,
    ],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.drivers?.length ?? 0,
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'storage.k8s.io/csidrivers': printer<CSIDriver>(
    [
      nameColumn,
      booleanColumn('AttachRequired', columnTexts['CSIDriverSpec.attachRequired']),
      booleanColumn('PodInfoOnMount', columnTexts['CSIDriverSpec.podInfoOnMount']),
      booleanColumn('StorageCapacity', columnTexts['CSIDriverSpec.storageCapacity']),
      textColumn('TokenRequests', columnTexts['CSIDriverSpec.tokenRequests']),
      booleanColumn('RequiresRepublish', columnTexts['CSIDriverSpec.requiresRepublish']),
      textColumn('Modes', columnTexts['CSIDriverSpec.volumeLifecycleModes']),
      ageColumn,
    ],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.attachRequired ?? true,
      spec?.podInfoOnMount ?? false,
      spec?.storageCapacity ?? false,
      spec?.tokenRequests ? spec.tokenRequests.map(({ audience }) => audience ?? '').join(',') : '<unset>',
      spec?.requiresRepublish ?? false,
      spec?.volumeLifecycleModes?.join(',') || '<none>',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
}

function isDefault({ metadata }: Loose<StorageClass>): boolean {
  const annotations = metadata?.annotations ?? {}
  return (
    annotations['storageclass.kubernetes.io/is-default-class'] === 'true' ||
    annotations['storageclass.beta.kubernetes.io/is-default-class'] === 'true'
  )
}
