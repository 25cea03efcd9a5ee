import type { BuiltinTable } from '../builtin-resources.ts'
import { csiDrivers } from './csi-driver/csi-driver.ts'
import { csiNodes } from './csi-node/csi-node.ts'
import { csiStorageCapacities } from './csi-storage-capacity/csi-storage-capacity.ts'
import { storageClasses } from './storage-class/storage-class.ts'
import { volumeAttachments } from './volume-attachment/volume-attachment.ts'
import { volumeAttributesClasses } from './volume-attributes-class/volume-attributes-class.ts'

/** The resources of the storage.k8s.io group. */
export const storageResources: BuiltinTable = {
  'storage.k8s.io/csidrivers': csiDrivers,
  'storage.k8s.io/csinodes': csiNodes,
  'storage.k8s.io/csistoragecapacities': csiStorageCapacities,
  'storage.k8s.io/storageclasses': storageClasses,
  'storage.k8s.io/volumeattachments': volumeAttachments,
  'storage.k8s.io/volumeattributesclasses': volumeAttributesClasses,
}
