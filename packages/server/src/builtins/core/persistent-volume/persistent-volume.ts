import { append, deepCopy, formatRFC3339, instantFromMillis, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { goShown, goValueOf } from '../../../codec/json/go-value.ts'
import { jsonDiff } from '../../../codec/json/json-diff.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { nodeSelectorTermWarnings } from '../../checks/node-label-warnings.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkAccessModes } from '../persistent-volume-claim/validate-claim-spec.ts'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import { validateNodeSelector } from '../pod/validation/validate-scheduling.ts'
import { persistentVolumeTable } from './persistent-volume-table.ts'
import { validateVolumeSource, volumeSources } from './validate-volume-source.ts'

type Spec = Unchecked<core.PersistentVolumeSpec>
type Status = Unchecked<core.PersistentVolumeStatus>

const specPath = FieldPath.of('spec')
const retainPolicies = ['Delete', 'Recycle', 'Retain']
const deprecatedAnnotations = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const

function specOf(volume: MutableObject): Spec {
  return (volume['spec'] ??= {}) as Spec
}

function statusOf(volume: MutableObject): Status {
  return (volume['status'] ??= {}) as Status
}

function setDefaults(volume: MutableObject): void {
  const spec = specOf(volume)
  statusOf(volume).phase ||= 'Pending'
  spec.persistentVolumeReclaimPolicy ||= 'Retain'
  spec.volumeMode ??= 'Filesystem'
  defaultResourceList(spec.capacity)
  if (spec.hostPath) spec.hostPath.type ??= ''
  if (spec.iscsi) spec.iscsi.iscsiInterface ||= 'default'
  if (spec.rbd) {
    spec.rbd.pool ||= 'rbd'
    spec.rbd.user ||= 'admin'
    spec.rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (spec.azureDisk) {
    spec.azureDisk.cachingMode ??= 'ReadWrite'
    spec.azureDisk.fsType ??= 'ext4'
    spec.azureDisk.readOnly ??= false
    spec.azureDisk.kind ??= 'Shared'
  }
  if (spec.scaleIO) {
    spec.scaleIO.storageMode ||= 'ThinProvisioned'
    spec.scaleIO.fsType ||= 'xfs'
  }
}

function validate(volume: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = specOf(volume)
  if ((spec.accessModes ?? []).length === 0) errors.push(required(specPath.child('accessModes')))
  checkAccessModes(errors, specPath.child('accessModes'), spec.accessModes ?? [])
  validateCapacity(spec, specPath.child('capacity'), errors)
  const policy = spec.persistentVolumeReclaimPolicy
  const policyPath = specPath.child('persistentVolumeReclaimPolicy')
  if (policy && !retainPolicies.includes(policy)) errors.push(unsupported(policyPath, policy, retainPolicies))
  if (spec.nodeAffinity) {
    const at = specPath.child('nodeAffinity', 'required')
    if (spec.nodeAffinity.required) validateNodeSelector(spec.nodeAffinity.required, at, errors)
    else errors.push(required(at, 'must specify required node constraints'))
  }
  validateVolumeSource(spec, volume.metadata.name ?? '', specPath, errors)
  if (spec.hostPath && /^\/*$/.test(spec.hostPath.path ?? '-') && policy === 'Recycle') {
    errors.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"))
  }
  checkClass(spec.storageClassName, 'storageClassName', errors)
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Block' && spec.volumeMode !== 'Filesystem') {
    errors.push(unsupported(specPath.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem']))
  }
  const attributesClass = spec.volumeAttributesClassName
  if (attributesClass !== undefined) {
    const at = specPath.child('volumeAttributesClassName')
    if (attributesClass === '') errors.push(required(at, 'an empty string is disallowed'))
    else checkClass(attributesClass, 'volumeAttributesClassName', errors)
    if (!spec.csi) {
      errors.push(required(specPath.child('csi'), 'has to be specified when using volumeAttributesClassName'))
    }
  }
  return errors
}

function validateCapacity({ capacity }: Spec, path: FieldPath, errors: FieldError[]): void {
  const names = Object.keys(capacity ?? {})
  if (names.length === 0) errors.push(required(path))
  if (capacity?.['storage'] === undefined || names.length > 1) {
    errors.push(unsupported(path, capacity ?? null, ['storage']))
  }
  for (const name of names) {
    const amount = quantityOf(capacity?.[name])
    if (amount.value() < 0n) errors.push(invalid(path.key(name), amount.value(), 'must be a valid resource quantity'))
    if (amount.sign <= 0) errors.push(invalid(path.key(name), amount.toString(), 'must be greater than zero'))
  }
}

function checkClass(name: string | undefined, field: string, errors: FieldError[]): void {
  if (name) addInvalid(errors, specPath.child(field), name, nameIsDNSSubdomain(name, false))
}

function validateUpdate(volume: MutableObject, old: MutableObject): FieldError[] {
  const errors = [...validate(volume), ...validate(volume)]
  const spec = specOf(volume)
  const before = specOf(old)
  const source = sourceOf(spec)
  const sourceBefore = sourceOf(before)
  // A secret for expansion may be added later.
  if (before.csi && !before.csi.controllerExpandSecretRef && source.csi) delete source.csi.controllerExpandSecretRef
  if (!semanticEqual(source, sourceBefore)) {
    const shown = (value: Spec): object => goValueOf('PersistentVolumeSource', value)
    const diff = jsonDiff(shown(sourceBefore), shown(source))
    const at = specPath.child('persistentvolumesource')
    errors.push(forbidden(at, `spec.persistentvolumesource is immutable after creation\n${diff}`))
  }
  if (spec.volumeMode !== before.volumeMode) {
    errors.push(invalid(FieldPath.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  }
  if (before.nodeAffinity && !semanticEqual(spec.nodeAffinity ?? null, withStableLabels(spec, before))) {
    const shown = spec.nodeAffinity ? goShown('VolumeNodeAffinity', spec.nodeAffinity) : null
    const text = 'field is immutable, except for updating from beta label to GA'
    errors.push(invalid(FieldPath.of('nodeAffinity'), shown, text))
  }
  if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    const at = specPath.child('volumeAttributesClassName')
    errors.push(forbidden(at, 'update from non-nil value to nil is forbidden'))
  }
  return errors
}

/** The source in the spec of a volume. */
function sourceOf(spec: Spec): Spec {
  const source: Spec = {}
  for (const name of volumeSources) {
    if (spec[name] !== undefined) Object.assign(source, { [name]: deepCopy(spec[name]) })
  }
  return source
}

const stableLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

/** The old affinity, with beta labels replaced by stable ones wherever the new affinity has the stable one. */
function withStableLabels(spec: Spec, before: Spec): Spec['nodeAffinity'] {
  const affinity = deepCopy(before.nodeAffinity) as NonNullable<Spec['nodeAffinity']>
  for (const [i, term] of (affinity.required?.nodeSelectorTerms ?? []).entries()) {
    const next = spec.nodeAffinity?.required?.nodeSelectorTerms?.[i]
    for (const [j, requirement] of (term.matchExpressions ?? []).entries()) {
      const key = next?.matchExpressions?.[j]?.key
      if (key !== undefined && stableLabels[requirement.key ?? ''] === key) requirement.key = key
    }
  }
  return affinity
}

function warnings(volume: MutableObject): string[] {
  const spec = specOf(volume)
  const found: string[] = []
  for (const [key, text] of deprecatedAnnotations) {
    if (volume.metadata.annotations?.[key] !== undefined) found.push(`metadata.annotations[${key}]: ${text}`)
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const text =
      'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
    found.push(`spec.persistentVolumeReclaimPolicy: ${text}`)
  }
  for (const [i, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    const at = specPath.child('nodeAffinity', 'required', 'nodeSelectorTerms').index(i)
    append(found, nodeSelectorTermWarnings(term, false, at))
  }
  if (spec.cephfs) found.push('spec.cephfs: deprecated in v1.28, non-functional in v1.31+')
  if (spec.photonPersistentDisk) found.push('spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+')
  if (spec.scaleIO) found.push('spec.scaleIO: deprecated in v1.16, non-functional in v1.22+')
  if (spec.storageos) found.push('spec.storageOS: deprecated in v1.22, non-functional in v1.25+')
  if (spec.glusterfs) found.push('spec.glusterfs: deprecated in v1.25, non-functional in v1.26+')
  if (spec.rbd) found.push('spec.rbd: deprecated in v1.28, non-functional in v1.31+')
  return found
}

/** PersistentVolumes (pkg/registry/core/persistentvolume). */
export const persistentVolumes: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'persistentvolumes',
  table: persistentVolumeTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      setDefaults,
      prepareForCreate: (volume, { now }) => {
        volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: formatRFC3339(instantFromMillis(now)) }
      },
      validate,
      metadataOnUpdate: ['create', 'create'],
      validateUpdate,
      warningsOnCreate: warnings,
      warningsOnUpdate: warnings,
    },
    {
      prepareForUpdate: (volume, old, { now }) => {
        const status = statusOf(volume)
        const before = statusOf(old)
        const given = status.lastPhaseTransitionTime
        if (status.phase === before.phase) status.lastPhaseTransitionTime ??= before.lastPhaseTransitionTime
        else if (given === undefined || given === before.lastPhaseTransitionTime) {
          status.lastPhaseTransitionTime = formatRFC3339(instantFromMillis(now))
        }
      },
    },
  ),
})
