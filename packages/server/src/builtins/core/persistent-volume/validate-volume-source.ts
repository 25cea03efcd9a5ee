import { isDNS1123Label, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, type FieldPath, forbidden, invalid, notSupported, required } from '@kubewright/schema'
import { addInvalid, checkNoBacksteps } from '../../checks/field-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateLegacyVolume } from '../pod/validation/volumes/validate-legacy-volume.ts'
import { checkCsiDriverName } from '../pod/validation/volumes/validate-volumes.ts'

type Spec = Unchecked<core.PersistentVolumeSpec>

/** In the order in which a volume with several sources is told about the second. */
export const volumeSources = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
] as const
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

/** Checks that a persistent volume has one source, and that source. */
export function validateVolumeSource(spec: Spec, name: string, path: FieldPath, errors: FieldError[]): void {
  let found = false
  for (const source of volumeSources) {
    if (spec[source] == null) continue
    // A flexVolume beside another source is not refused.
    if (found && source !== 'flexVolume') {
      const named = source === 'cephfs' ? 'cephFS' : source
      errors.push(forbidden(path.child(named), 'may not specify more than 1 volume type'))
      continue
    }
    found = true
    validateOne(source, spec, name, path, errors)
  }
  if (!found) errors.push(required(path, 'must specify a volume type'))
}

function validateOne(
  source: (typeof volumeSources)[number],
  spec: Spec,
  name: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child(source)
  switch (source) {
    case 'hostPath': {
      const { path: hostPath = '', type } = spec.hostPath!
      if (hostPath === '') errors.push(required(at.child('path')))
      else {
        checkNoBacksteps(errors, at.child('path'), hostPath)
        if (type !== undefined && !hostPathTypes.includes(type)) {
          errors.push(notSupported(at.child('type'), type, hostPathTypes))
        }
      }
      return
    }
    case 'local':
      if (!spec.local?.path) errors.push(required(at.child('path')))
      else checkNoBacksteps(errors, at.child('path'), spec.local.path)
      if (!spec.nodeAffinity) {
        errors.push(required(path.child('nodeAffinity'), 'Local volume requires node affinity'))
      }
      return
    case 'csi':
      validateCsi(spec.csi!, at, errors)
      return
    default:
      validateLegacyVolume(source, spec, path, errors)
  }
  if (source === 'glusterfs') {
    const namespace = spec.glusterfs?.endpointsNamespace
    const where = at.child('endpointsNamespace')
    if (namespace === '') {
      errors.push(invalid(where, '', 'if the endpointnamespace is set, it must be a valid namespace name'))
    } else if (namespace !== undefined) addInvalid(errors, where, namespace, isDNS1123Label(namespace))
  }
  if (source === 'azureFile' && spec.azureFile?.secretNamespace === '') {
    errors.push(required(at.child('secretNamespace')))
  }
  if (
    (source === 'cinder' || source === 'storageos') &&
    spec[source]?.secretRef &&
    !spec[source]?.secretRef?.namespace
  ) {
    errors.push(required(at.child('secretRef', 'namespace')))
  }
  if (source === 'iscsi') {
    const { initiatorName, targetPortal = '' } = spec.iscsi!
    if (initiatorName !== undefined && `${name}:${targetPortal}`.length > 64) {
      const text =
        'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
      errors.push(invalid(at.child('targetportal'), targetPortal, text))
    }
  }
}

function validateCsi(csi: NonNullable<Spec['csi']>, path: FieldPath, errors: FieldError[]): void {
  checkCsiDriverName(errors, path.child('driver'), csi.driver)
  if (!csi.volumeHandle) errors.push(required(path.child('volumeHandle')))
  for (const field of [
    'controllerPublishSecretRef',
    'controllerExpandSecretRef',
    'nodePublishSecretRef',
    'nodeExpandSecretRef',
  ] as const) {
    const reference = csi[field]
    if (!reference) continue
    const { name = '', namespace = '' } = reference
    const at = path.child(field)
    if (name === '') errors.push(required(at.child('name')))
    else addInvalid(errors, at.child('name'), name, nameIsDNSSubdomain(name, false))
    if (namespace === '') errors.push(required(at.child('namespace')))
    else addInvalid(errors, at.child('namespace'), namespace, isDNS1123Label(namespace))
  }
}
