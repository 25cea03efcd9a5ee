import { inclusiveRangeMessage } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import type { Volume } from '../../pod-types.ts'

/** Fields that a source cannot do without, by source. */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  glusterfs: ['endpoints', 'path'],
  rbd: ['monitors', 'image'],
  cinder: ['volumeID'],
  cephfs: ['monitors'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  storageos: ['volumeName'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  flexVolume: ['driver'],
}
const portalPairs = 'must be a host:port pair or multiple pairs separated by commas'
const iqn = /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9-.]+)(:[^,;*&$|\s]+)$/
const eui = /^eui.[a-zA-Z0-9]{16}$/
const naa = /^naa.[a-zA-Z0-9]{32}$/

/** Checks a source that names storage of one vendor or protocol. Persistent volumes hold the same sources. */
export function validateLegacyVolume(source: string, volume: object, path: FieldPath, errors: FieldError[]): void {
  // The gcePersistentDisk of a pod is checked under another name.
  const at = path.child(source === 'gcePersistentDisk' ? 'persistentDisk' : source)
  const fields = (volume as Record<string, Record<string, unknown>>)[source] ?? {}
  for (const field of requiredFields[source] ?? []) {
    const value = fields[field]
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
      errors.push(required(at.child(field)))
    }
  }
  const typed = volume as Volume
  switch (source) {
    case 'gcePersistentDisk':
      if (!typed.gcePersistentDisk?.pdName) errors.push(required(at.child('pdName')))
      checkPartition(typed.gcePersistentDisk?.partition, at, errors)
      return
    case 'awsElasticBlockStore':
      if (!typed.awsElasticBlockStore?.volumeID) errors.push(required(at.child('volumeID')))
      checkPartition(typed.awsElasticBlockStore?.partition, at, errors)
      return
    case 'nfs': {
      const { server, path: directory = '' } = typed.nfs!
      if (!server) errors.push(required(at.child('server')))
      if (directory === '') errors.push(required(at.child('path')))
      if (!directory.startsWith('/')) errors.push(invalid(at.child('path'), directory, 'must be an absolute path'))
      return
    }
    case 'iscsi':
      validateIscsi(typed.iscsi!, at, errors)
      return
    case 'fc':
      validateFibreChannel(typed.fc!, at, errors)
      return
    case 'flocker': {
      const { datasetName = '', datasetUUID = '' } = typed.flocker!
      if (datasetName === '' && datasetUUID === '') {
        errors.push(required(at, 'one of datasetName and datasetUUID is required'))
      }
      if (datasetName !== '' && datasetUUID !== '') {
        errors.push(invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
      }
      if (datasetName.includes('/')) errors.push(invalid(at.child('datasetName'), datasetName, "must not contain '/'"))
      return
    }
    case 'quobyte':
      validateQuobyte(typed.quobyte!, at, errors)
      return
    case 'azureDisk':
      validateAzureDisk(typed.azureDisk!, at, errors)
      return
    case 'flexVolume':
      for (const key of Object.keys(typed.flexVolume?.options ?? {})) {
        const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`
        if (!key.includes('/') || !(domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io'))) continue
        errors.push(invalid(at.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved'))
      }
      return
    case 'cinder':
    case 'storageos': {
      const reference = typed[source]?.secretRef
      if (reference && !reference.name) errors.push(required(at.child('secretRef', 'name')))
    }
  }
}

function checkPartition(partition: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (partition === undefined || (partition >= 0 && partition <= 255)) return
  errors.push(invalid(path.child('partition'), partition, inclusiveRangeMessage(1, 255)))
}

function validateIscsi(iscsi: NonNullable<Volume['iscsi']>, path: FieldPath, errors: FieldError[]): void {
  if (!iscsi.targetPortal) errors.push(required(path.child('targetPortal')))
  if (!iscsi.iqn) errors.push(required(path.child('iqn')))
  else checkQualifier(iscsi.iqn, path.child('iqn'), errors)
  const lun = iscsi.lun ?? 0
  if (lun < 0 || lun > 255) errors.push(invalid(path.child('lun'), lun, inclusiveRangeMessage(0, 255)))
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) {
    errors.push(required(path.child('secretRef')))
  }
  if (iscsi.initiatorName !== undefined) checkQualifier(iscsi.initiatorName, path.child('initiatorname'), errors)
}

function checkQualifier(value: string, path: FieldPath, errors: FieldError[]): void {
  const format = value.startsWith('iqn')
    ? iqn
    : value.startsWith('eui')
      ? eui
      : value.startsWith('naa')
        ? naa
        : undefined
  if (!format) errors.push(invalid(path, value, 'must be valid format starting with iqn, eui, or naa'))
  else if (!format.test(value)) errors.push(invalid(path, value, 'must be valid format'))
}

function validateFibreChannel(fc: NonNullable<Volume['fc']>, path: FieldPath, errors: FieldError[]): void {
  const names = fc.targetWWNs ?? []
  const ids = fc.wwids ?? []
  if (names.length === 0 && ids.length === 0) {
    errors.push(required(path.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both'))
  }
  if (names.length > 0 && ids.length > 0) {
    errors.push(invalid(path.child('targetWWNs'), names, 'targetWWNs and wwids can not be specified simultaneously'))
  }
  if (names.length === 0) return
  if (fc.lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'))
  else if (fc.lun < 0 || fc.lun > 255) {
    errors.push(invalid(path.child('lun'), fc.lun, inclusiveRangeMessage(0, 255)))
  }
}

function validateQuobyte(quobyte: NonNullable<Volume['quobyte']>, path: FieldPath, errors: FieldError[]): void {
  const { registry = '', tenant = '', volume } = quobyte
  if (registry === '') errors.push(required(path.child('registry'), portalPairs))
  else if (tenant.length >= 65) {
    errors.push(required(path.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters'))
  } else {
    for (const pair of registry.split(',')) {
      if (!/^(\[[^\]]*\]|[^:]*):[^:]*$/.test(pair)) errors.push(invalid(path.child('registry'), registry, portalPairs))
    }
  }
  if (!volume) errors.push(required(path.child('volume')))
}

function validateAzureDisk(disk: NonNullable<Volume['azureDisk']>, path: FieldPath, errors: FieldError[]): void {
  const { diskName, diskURI = '', cachingMode, kind } = disk
  if (!diskName) errors.push(required(path.child('diskName')))
  if (diskURI === '') errors.push(required(path.child('diskURI')))
  const modes = ['None', 'ReadOnly', 'ReadWrite']
  if (cachingMode !== undefined && !modes.includes(cachingMode)) {
    errors.push(notSupported(path.child('cachingMode'), cachingMode, modes))
  }
  const kinds = ['Dedicated', 'Managed', 'Shared']
  if (kind !== undefined && !kinds.includes(kind)) errors.push(notSupported(path.child('kind'), kind, kinds))
  if (kind === 'Managed' && !diskURI.startsWith('/subscriptions/')) {
    errors.push(
      notSupported(path.child('diskURI'), diskURI, [
        '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
      ]),
    )
  }
  if (kind !== undefined && kind !== 'Managed' && !diskURI.startsWith('https://')) {
    errors.push(
      notSupported(path.child('diskURI'), diskURI, [
        'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd',
      ]),
    )
  }
}
