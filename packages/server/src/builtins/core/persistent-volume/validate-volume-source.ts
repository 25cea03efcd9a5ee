import { isDNS1123Label, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { addInvalid, checkCsiDriverName, checkNoBacksteps } from '../../checks/field-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { type VendorSource, validateVendorSource } from '../volume-sources/validate-vendor-source.ts'
import {
  initiatorTooLong,
  isInitiatorTooLong,
  noSource,
  secondSource,
  validateHostPath,
} from '../volume-sources/volume-source.ts'

type Spec = Unchecked<core.PersistentVolumeSpec>

/** The sources of a persistent volume. The first one that is set is checked; the others are reported as surplus in this order. */
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

/** Checks that a persistent volume has exactly one source, and that the source is valid. */
export function validateVolumeSource(spec: Spec, name: string, path: FieldPath, errors: FieldError[]): void {
  let found = false
  for (const source of volumeSources) {
    if (spec[source] == null) continue
    // As in core/validation: a flexVolume is accepted beside another source.
    if (found && source !== 'flexVolume') {
      errors.push(secondSource(path, source))
      continue
    }
    found = true
    validateOne(source, spec, name, path, errors)
  }
  if (!found) errors.push(noSource(path))
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
    case 'hostPath':
      validateHostPath(spec.hostPath!, at, errors)
      return
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
      validateVendorSource(source, spec, path, errors)
      validateNamespacedFields(source, spec, name, at, errors)
  }
}

/** Checks the fields that a vendor's source has in a persistent volume only: references from there need a namespace. */
function validateNamespacedFields(
  source: VendorSource,
  spec: Spec,
  name: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  switch (source) {
    case 'glusterfs': {
      const namespace = spec.glusterfs?.endpointsNamespace
      const at = path.child('endpointsNamespace')
      if (namespace === '') {
        errors.push(invalid(at, '', 'if the endpointnamespace is set, it must be a valid namespace name'))
      } else if (namespace !== undefined) addInvalid(errors, at, namespace, isDNS1123Label(namespace))
      return
    }
    case 'azureFile':
      if (spec.azureFile?.secretNamespace === '') errors.push(required(path.child('secretNamespace')))
      return
    case 'cinder':
    case 'storageos': {
      const reference = spec[source]?.secretRef
      if (reference && !reference.namespace) errors.push(required(path.child('secretRef', 'namespace')))
      return
    }
    case 'iscsi':
      if (isInitiatorTooLong(name, spec.iscsi!)) {
        errors.push(invalid(path.child('targetportal'), spec.iscsi!.targetPortal ?? '', initiatorTooLong))
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
