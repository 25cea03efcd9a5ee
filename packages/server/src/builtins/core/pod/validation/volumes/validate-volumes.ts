import { isDNS1123Subdomain, nameIsDNSSubdomain } from '@kubewright/base'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '@kubewright/schema'
import type { MutableMeta } from '../../../../../resource/object.ts'
import {
  addInvalid,
  checkDescendingPath,
  checkEnum,
  checkFileMode,
  checkLabel,
  checkLocalPath,
  checkNoBacksteps,
} from '../../../../checks/field-checks.ts'
import { validatePersistentVolumeClaimTemplate } from '../../../persistent-volume-claim/validate-claim-spec.ts'
import type { Volume } from '../../pod-types.ts'
import { quantityOf } from '../../resources/resource-list.ts'
import { validateLegacyVolume } from './validate-legacy-volume.ts'
import { type DownwardItem, validateDownwardItem, validateProjectedVolume } from './validate-projected-volume.ts'

const pullPolicies = ['Always', 'IfNotPresent', 'Never']
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** In the order in which a volume with several sources is told about the second. */
const sources = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const // prettier-ignore
/** Where the server's own word for a source differs from the field. */
const secondSourceName: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

/** Checks the volumes of a pod; the result holds those that are usable, by name. */
export function validateVolumes(
  volumes: readonly Volume[],
  podMeta: MutableMeta | undefined,
  isPod: boolean,
  path: FieldPath,
  errors: FieldError[],
): Map<string, Volume> {
  const usable = new Map<string, Volume>()
  const created = new Set<string>()
  if (podMeta?.name) for (const { name, ephemeral } of volumes) if (ephemeral) created.add(`${podMeta.name}-${name}`)
  for (const [i, volume] of volumes.entries()) {
    const at = path.index(i)
    const before = errors.length
    validateSource(volume, podMeta, isPod, at, errors)
    const name = volume.name ?? ''
    if (name === '') errors.push(required(at.child('name')))
    else checkLabel(errors, at.child('name'), name)
    if (usable.has(name)) errors.push(duplicate(at.child('name'), name))
    if (errors.length === before) usable.set(name, volume)
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim !== undefined && created.has(claim)) {
      const text = 'must not reference a PVC that gets created for an ephemeral volume'
      errors.push(invalid(at.child('persistentVolumeClaim', 'claimName'), claim, text))
    }
  }
  return usable
}

function validateSource(
  volume: Volume,
  podMeta: MutableMeta | undefined,
  isPod: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  let found = false
  for (const name of sources) {
    if (volume[name] == null) continue
    if (found) {
      errors.push(forbidden(path.child(secondSourceName[name] ?? name), 'may not specify more than 1 volume type'))
    } else {
      found = true
      validateOneSource(name, volume, podMeta, isPod, path, errors)
    }
    if (name === 'iscsi' && volume.iscsi?.initiatorName !== undefined) {
      if (`${volume.name}:${volume.iscsi.targetPortal}`.length > 64) {
        const text =
          'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
        errors.push(invalid(path.child('name'), volume.name ?? '', text))
      }
    }
  }
  if (!found) errors.push(required(path, 'must specify a volume type'))
}

function validateOneSource(
  source: (typeof sources)[number],
  volume: Volume,
  podMeta: MutableMeta | undefined,
  isPod: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child(source)
  switch (source) {
    case 'emptyDir': {
      const limit = volume.emptyDir?.sizeLimit
      if (limit !== undefined && quantityOf(limit).sign < 0) {
        errors.push(forbidden(at.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity'))
      }
      return
    }
    case 'hostPath': {
      const { path: hostPath = '', type } = volume.hostPath!
      if (hostPath === '') {
        errors.push(required(at.child('path')))
        return
      }
      checkNoBacksteps(errors, at.child('path'), hostPath)
      if (type !== undefined && !hostPathTypes.includes(type)) {
        errors.push(notSupported(at.child('type'), type, hostPathTypes))
      }
      return
    }
    case 'gitRepo':
      if (!volume.gitRepo?.repository) errors.push(required(at.child('repository')))
      checkDescendingPath(errors, at.child('directory'), volume.gitRepo?.directory ?? '')
      return
    case 'secret':
      validateKeys(volume.secret?.secretName, 'secretName', volume.secret!, at, errors)
      return
    case 'configMap':
      validateKeys(volume.configMap?.name, 'name', volume.configMap!, at, errors)
      return
    case 'persistentVolumeClaim':
      if (!volume.persistentVolumeClaim?.claimName) errors.push(required(at.child('claimName')))
      return
    case 'downwardAPI':
      checkFileMode(errors, at.child('defaultMode'), volume.downwardAPI?.defaultMode)
      for (const item of volume.downwardAPI?.items ?? []) validateDownwardItem(item as DownwardItem, at, errors)
      return
    case 'projected':
      validateProjectedVolume(volume.projected!, at, errors)
      return
    case 'csi':
      validateCsi(volume.csi!, at, errors)
      return
    case 'ephemeral':
      validateEphemeral(volume, podMeta, path, errors)
      return
    case 'image':
      if (isPod && !volume.image?.reference) errors.push(required(at.child('reference')))
      checkEnum(errors, at.child('pullPolicy'), volume.image?.pullPolicy, pullPolicies, true)
      return
    default:
      validateLegacyVolume(source, volume, path, errors)
  }
}

type KeyedSource = Pick<NonNullable<Volume['configMap']>, 'defaultMode' | 'items'>

function validateKeys(
  name: string | undefined,
  nameField: string,
  source: KeyedSource,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(path.child(nameField)))
  checkFileMode(errors, path.child('defaultMode'), source.defaultMode)
  for (const [i, item] of (source.items ?? []).entries()) validateKeyToPath(item, path.child('items').index(i), errors)
}

/** One key of a ConfigMap or Secret and the file that it becomes. */
export function validateKeyToPath(
  item: NonNullable<KeyedSource['items']>[number],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!item.key) errors.push(required(path.child('key')))
  if (!item.path) errors.push(required(path.child('path')))
  checkLocalPath(errors, path.child('path'), item.path ?? '')
  checkFileMode(errors, path.child('mode'), item.mode)
}

/** The name of a CSI driver. */
export function checkCsiDriverName(errors: FieldError[], path: FieldPath, driver: string | undefined): void {
  if (!driver) {
    errors.push(required(path))
    return
  }
  if (driver.length > 63) errors.push(tooLong(path, 63))
  addInvalid(errors, path, driver, isDNS1123Subdomain(driver.toLowerCase()))
}

function validateCsi(csi: NonNullable<Volume['csi']>, path: FieldPath, errors: FieldError[]): void {
  checkCsiDriverName(errors, path.child('driver'), csi.driver)
  if (!csi.nodePublishSecretRef) return
  const name = csi.nodePublishSecretRef.name ?? ''
  if (name === '') errors.push(required(path.child('nodePublishSecretRef', 'name')))
  else addInvalid(errors, path.child('name'), name, nameIsDNSSubdomain(name, false))
}

function validateEphemeral(
  volume: Volume,
  podMeta: MutableMeta | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('ephemeral', 'volumeClaimTemplate')
  const template = volume.ephemeral?.volumeClaimTemplate
  if (!template) errors.push(required(at))
  else validatePersistentVolumeClaimTemplate(template, at, errors)
  if (!podMeta?.name || !volume.name) return
  const claim = `${podMeta.name}-${volume.name}`
  for (const text of nameIsDNSSubdomain(claim, false)) {
    errors.push(invalid(path.child('name'), volume.name, `PVC name ${JSON.stringify(claim)}: ${text}`))
  }
}
