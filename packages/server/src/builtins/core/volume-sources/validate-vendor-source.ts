import { inclusiveRangeMessage } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import { checkLabel, unsupported } from '../../checks/field-checks.ts'
import type { Volume } from '../pod/pod-types.ts'

type Check<S> = (source: S, path: FieldPath, errors: FieldError[]) => void

/** The volume sources of single vendors and protocols. Pods and persistent volumes share them. */
export type VendorSource =
  | 'awsElasticBlockStore'
  | 'azureDisk'
  | 'azureFile'
  | 'cephfs'
  | 'cinder'
  | 'fc'
  | 'flexVolume'
  | 'flocker'
  | 'gcePersistentDisk'
  | 'glusterfs'
  | 'iscsi'
  | 'nfs'
  | 'photonPersistentDisk'
  | 'portworxVolume'
  | 'quobyte'
  | 'rbd'
  | 'scaleIO'
  | 'storageos'
  | 'vsphereVolume'

const checks: { readonly [K in VendorSource]: Check<NonNullable<Volume[K]>> } = {
  awsElasticBlockStore: requires(['volumeID'], ({ partition }, path, errors) => {
    checkPartition(partition, path, errors)
  }),
  azureDisk: validateAzureDisk,
  azureFile: requires(['secretName', 'shareName']),
  cephfs: requires(['monitors']),
  cinder: requires(['volumeID'], ({ secretRef }, path, errors) => checkSecretName(secretRef, path, errors)),
  fc: validateFibreChannel,
  flexVolume: requires(['driver'], validateFlexOptions),
  flocker: validateFlocker,
  gcePersistentDisk: requires(['pdName'], ({ partition }, path, errors) => checkPartition(partition, path, errors)),
  glusterfs: requires(['endpoints', 'path']),
  iscsi: validateIscsi,
  nfs: requires(['server', 'path'], ({ path: directory = '' }, path, errors) => {
    if (!directory.startsWith('/')) errors.push(invalid(path.child('path'), directory, 'must be an absolute path'))
  }),
  photonPersistentDisk: requires(['pdID']),
  portworxVolume: requires(['volumeID']),
  quobyte: validateQuobyte,
  rbd: requires(['monitors', 'image']),
  scaleIO: requires(['gateway', 'system', 'volumeName']),
  storageos: requires(['volumeName'], ({ volumeName, volumeNamespace, secretRef }, path, errors) => {
    if (volumeName) checkLabel(errors, path.child('volumeName'), volumeName)
    if (volumeNamespace) checkLabel(errors, path.child('volumeNamespace'), volumeNamespace)
    checkSecretName(secretRef, path, errors)
  }),
  vsphereVolume: requires(['volumePath']),
}

/** Checks a vendor's source of a pod volume or a persistent volume. `path` is the path of the volume. */
export function validateVendorSource(
  name: VendorSource,
  volume: { readonly [K in VendorSource]?: unknown },
  path: FieldPath,
  errors: FieldError[],
): void {
  // As in core/validation: errors name the field of a GCE disk differently.
  const at = path.child(name === 'gcePersistentDisk' ? 'persistentDisk' : name)
  // The table has one check per source, with the type of that source.
  const check = checks[name] as Check<unknown>
  check(volume[name] ?? {}, at, errors)
}

/** A check that the fields are not empty, followed by further checks. */
function requires<S extends object>(fields: readonly (keyof S & string)[], further?: Check<S>): Check<S> {
  return (source, path, errors) => {
    for (const field of fields) {
      const value: unknown = source[field]
      const isEmpty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
      if (isEmpty) errors.push(required(path.child(field)))
    }
    further?.(source, path, errors)
  }
}

function checkPartition(partition: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (partition === undefined || (partition >= 0 && partition <= 255)) return
  errors.push(invalid(path.child('partition'), partition, inclusiveRangeMessage(1, 255)))
}

function checkSecretName(
  reference: { readonly name?: string | undefined } | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (reference && !reference.name) errors.push(required(path.child('secretRef', 'name')))
}

function checkLun(lun: number, path: FieldPath, errors: FieldError[]): void {
  if (lun < 0 || lun > 255) errors.push(invalid(path.child('lun'), lun, inclusiveRangeMessage(0, 255)))
}

function validateFlexOptions(
  { options }: NonNullable<Volume['flexVolume']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const key of Object.keys(options ?? {})) {
    const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`
    if (!key.includes('/') || !(domain.endsWith('.kubernetes.io') || domain.endsWith('.k8s.io'))) continue
    errors.push(invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved'))
  }
}

function validateFlocker(flocker: NonNullable<Volume['flocker']>, path: FieldPath, errors: FieldError[]): void {
  const { datasetName = '', datasetUUID = '' } = flocker
  if (datasetName === '' && datasetUUID === '') {
    errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  }
  if (datasetName !== '' && datasetUUID !== '') {
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'))
  }
  if (datasetName.includes('/')) errors.push(invalid(path.child('datasetName'), datasetName, "must not contain '/'"))
}

function validateIscsi(iscsi: NonNullable<Volume['iscsi']>, path: FieldPath, errors: FieldError[]): void {
  if (!iscsi.targetPortal) errors.push(required(path.child('targetPortal')))
  if (!iscsi.iqn) errors.push(required(path.child('iqn')))
  else checkQualifier(iscsi.iqn, path.child('iqn'), errors)
  checkLun(iscsi.lun ?? 0, path, errors)
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && !iscsi.secretRef) {
    errors.push(required(path.child('secretRef')))
  }
  if (iscsi.initiatorName !== undefined) checkQualifier(iscsi.initiatorName, path.child('initiatorname'), errors)
}

/** The formats of iSCSI names, by prefix. */
const qualifiers = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
} as const

function checkQualifier(value: string, path: FieldPath, errors: FieldError[]): void {
  const [, format] = Object.entries(qualifiers).find(([prefix]) => value.startsWith(prefix)) ?? []
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
  else checkLun(fc.lun, path, errors)
}

const portalPairs = 'must be a host:port pair or multiple pairs separated by commas'

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
    errors.push(unsupported(path.child('cachingMode'), cachingMode, modes))
  }
  if (kind === undefined) return
  const kinds = ['Dedicated', 'Managed', 'Shared']
  if (!kinds.includes(kind)) errors.push(unsupported(path.child('kind'), kind, kinds))
  const managed = kind === 'Managed'
  if (diskURI.startsWith(managed ? '/subscriptions/' : 'https://')) return
  const format = managed
    ? '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
    : 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'
  errors.push(notSupported(path.child('diskURI'), diskURI, [format]))
}
