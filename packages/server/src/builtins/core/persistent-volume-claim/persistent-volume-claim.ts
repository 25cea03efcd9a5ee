import { deepCopy, isQualifiedName, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { goValueOf } from '../../../codec/json/go-value.ts'
import { jsonDiff } from '../../../codec/json/json-diff.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { isNativeResource } from '../../checks/resource-names.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import type { ResourceList } from '../pod/pod-types.ts'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import { checkResourceQuantity } from '../pod/validation/containers/validate-resources.ts'
import { claimSpecWarnings, defaultClaimSpec } from './claim-spec.ts'
import { persistentVolumeClaimTable } from './persistent-volume-claim-table.ts'
import { type ClaimSpec, validateClaimSpec } from './validate-claim-spec.ts'

type Status = Unchecked<core.PersistentVolumeClaimStatus>

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const classKey = 'volume.beta.kubernetes.io/storage-class'
const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort()

function specOf(claim: MutableObject): ClaimSpec {
  return (claim['spec'] ??= {}) as ClaimSpec
}

function statusOf(claim: MutableObject): Status {
  return (claim['status'] ??= {}) as Status
}

function setDefaults(claim: MutableObject): void {
  const status = statusOf(claim)
  status.phase ||= 'Pending'
  defaultClaimSpec(specOf(claim))
  defaultResourceList(status.capacity)
  defaultResourceList(status.allocatedResources)
}

/** Copies `dataSource` and `dataSourceRef` to each other. Only the latter can refer to another namespace or to other kinds. */
function normalizeSources(spec: ClaimSpec, old: ClaimSpec | undefined): void {
  const { dataSource, dataSourceRef } = spec
  if (dataSourceRef?.namespace && !old?.dataSourceRef) delete spec.dataSourceRef
  if (!old?.dataSource && !old?.dataSourceRef && !spec.dataSourceRef && !isClaimOrSnapshot(dataSource)) {
    delete spec.dataSource
  }
  if (spec.dataSource && !spec.dataSourceRef) {
    const { apiGroup, kind, name } = spec.dataSource
    spec.dataSourceRef = { apiGroup, kind, name }
  } else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    spec.dataSource = { apiGroup, kind, name }
  }
}

function isClaimOrSnapshot(source: ClaimSpec['dataSource']): boolean {
  if (!source) return false
  return (
    (source.kind === 'PersistentVolumeClaim' && !source.apiGroup) ||
    (source.kind === 'VolumeSnapshot' && source.apiGroup === 'snapshot.storage.k8s.io')
  )
}

function validate(claim: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  validateClaimSpec(specOf(claim), specPath, errors)
  return errors
}

function validateUpdate(claim: MutableObject, old: MutableObject): FieldError[] {
  const errors = validate(claim)
  const spec = specOf(claim)
  const before = specOf(old)
  const now = deepCopy(spec) as ClaimSpec
  const then = deepCopy(before) as ClaimSpec
  // The volume name may be set once, when the claim is bound.
  if (!then.volumeName && now.volumeName) then.volumeName = now.volumeName
  checkClassChange(claim, old, now, errors)
  const bound = statusOf(claim).phase === 'Bound'
  if (bound) {
    const requests: ResourceList | undefined = now.resources?.requests
    const size = before.resources?.requests?.['storage']
    if (requests && size !== undefined) requests['storage'] = size
    if (then.volumeAttributesClassName === undefined) delete now.volumeAttributesClassName
    else now.volumeAttributesClassName = then.volumeAttributesClassName
  }
  if (!semanticEqual(now, then)) {
    const shown = (value: ClaimSpec): object => goValueOf('PersistentVolumeClaimSpec', value)
    const text =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(forbidden(specPath, `${text}\n${jsonDiff(shown(then), shown(now))}`))
  }
  checkShrinking(spec, before, statusOf(old), errors)
  if (spec.volumeMode !== before.volumeMode) {
    errors.push(invalid(FieldPath.of('volumeMode'), spec.volumeMode ?? null, 'field is immutable'))
  }
  const attributesClass = spec.volumeAttributesClassName
  if (
    attributesClass !== before.volumeAttributesClassName &&
    statusOf(old).currentVolumeAttributesClassName !== undefined
  ) {
    const text = 'is forbidden when status.currentVolumeAttributesClassName is not nil'
    const at = specPath.child('volumeAttributesClassName')
    if (attributesClass === undefined) errors.push(forbidden(at, `update to nil ${text}`))
    else if (attributesClass === '') errors.push(forbidden(at, `update to empty string ${text}`))
  }
  return errors
}

/** Allows to set the storage class of a claim without one, and to move the class from the annotation to the field. */
function checkClassChange(claim: MutableObject, old: MutableObject, now: ClaimSpec, errors: FieldError[]): void {
  const oldAnnotation = old.metadata.annotations?.[classKey]
  const annotation = claim.metadata.annotations?.[classKey]
  const name = specOf(claim).storageClassName
  const unset = specOf(old).storageClassName === undefined && name !== undefined
  if (unset && oldAnnotation === name && (annotation === undefined || annotation === oldAnnotation)) {
    delete now.storageClassName
    return
  }
  if ((annotation ?? '') !== (oldAnnotation ?? '')) {
    errors.push(invalid(FieldPath.of('metadata', 'annotations', classKey), annotation ?? '', 'field is immutable'))
  }
  if (unset && (oldAnnotation === undefined || oldAnnotation === name)) delete now.storageClassName
}

/** Checks that a smaller request, which cancels a failed expansion, stays above the capacity of the volume. */
function checkShrinking(spec: ClaimSpec, before: ClaimSpec, status: Status, errors: FieldError[]): void {
  const size = quantityOf(spec.resources?.requests?.['storage'])
  if (size.cmp(quantityOf(before.resources?.requests?.['storage'])) >= 0) return
  if (size.cmp(quantityOf(status.capacity?.['storage'])) > 0) return
  const at = specPath.child('resources', 'requests', 'storage')
  errors.push(forbidden(at, 'field can not be less than status.capacity'))
}

function validateStatus(claim: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = statusOf(claim)
  if ((specOf(claim).accessModes ?? []).length === 0) errors.push(required(FieldPath.of('Spec', 'accessModes')))
  checkAmounts(status.capacity, statusPath.child('capacity'), errors)
  const statuses = status.allocatedResourceStatuses ?? {}
  for (const [name, value] of Object.entries(statuses)) {
    const at = statusPath.child('allocatedResourceStatuses')
    checkKey(name, at, errors)
    if (!resizeStatuses.includes(value ?? '')) errors.push(unsupported(at, name, resizeStatuses))
  }
  const at = statusPath.child('allocatedResources')
  for (const [name, amount] of Object.entries(status.allocatedResources ?? {})) {
    if (!checkKey(name, at, errors)) continue
    if (checkAmounts({ [name]: amount }, at, errors)) {
      checkResourceQuantity(errors, at.key(name), 'storage', quantityOf(amount))
    }
  }
  return errors
}

function checkKey(name: string, path: FieldPath, errors: FieldError[]): boolean {
  const texts = isQualifiedName(name)
  addInvalid(errors, path, name, texts)
  if (texts.length > 0) return false
  if (!isNativeResource(name) || name === 'storage') return true
  errors.push(unsupported(path, name, ['storage']))
  return false
}

function checkAmounts(list: ResourceList | undefined, path: FieldPath, errors: FieldError[]): boolean {
  const before = errors.length
  for (const [name, value] of Object.entries(list ?? {})) {
    const amount = quantityOf(value).value()
    if (amount < 0n) errors.push(invalid(path.key(name), amount, 'must be a valid resource quantity'))
  }
  return errors.length === before
}

function warnings(claim: MutableObject): string[] {
  const found: string[] = []
  if (claim.metadata.annotations?.[classKey] !== undefined) {
    found.push(`metadata.annotations[${classKey}]: deprecated since v1.8; use "storageClassName" attribute instead`)
  }
  return [...found, ...claimSpecWarnings(specOf(claim), specPath)]
}

/** PersistentVolumeClaims (pkg/registry/core/persistentvolumeclaim). */
export const persistentVolumeClaims: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'persistentvolumeclaims',
  table: persistentVolumeClaimTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      // The phase of a new claim is a default that is set when the claim is read.
      storesFirstUpdate: () => true,
      setDefaults,
      prepareForCreate: (claim) => {
        statusOf(claim).phase = 'Pending'
        normalizeSources(specOf(claim), undefined)
      },
      prepareForUpdate: (claim, old) => {
        normalizeSources(specOf(claim), specOf(old))
        normalizeSources(specOf(old), specOf(old))
      },
      validate,
      validateUpdate,
      warningsOnCreate: warnings,
      warningsOnUpdate: warnings,
    },
    { validateUpdate: validateStatus },
  ),
})
