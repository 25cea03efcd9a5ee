import { append, isDNS1123Label, isDNS1123Subdomain, nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  RawValue,
  required,
  validateAnnotations,
  validateLabels,
} from '@kubewright/schema'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { quantityOf } from '../pod/resources/resource-list.ts'
import { labelSelectorErrors } from '../pod/validation/validate-scheduling.ts'

/** The spec of a claim as a client sends it. */
export type ClaimSpec = Unchecked<core.PersistentVolumeClaimSpec>
type ClaimTemplate = Unchecked<core.PersistentVolumeClaimTemplate>

/** All access modes, in the order of the error message. */
export const accessModes: readonly string[] = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']

/** Checks the claim template of an ephemeral volume. Its metadata may have labels and annotations only. */
export function validatePersistentVolumeClaimTemplate(
  template: ClaimTemplate,
  path: FieldPath,
  errors: FieldError[],
): void {
  const meta = (template.metadata ?? {}) as Record<string, unknown>
  const at = path.child('metadata')
  append(
    errors,
    validateAnnotations(meta['annotations'] as Record<string, string> | undefined, at.child('annotations')),
  )
  append(errors, validateLabels(meta['labels'] as Record<string, string> | undefined, at.child('labels')))
  for (const [field, value] of Object.entries(meta)) {
    if (field === 'annotations' || field === 'labels' || value == null || value === '') continue
    errors.push(forbidden(at.child(field), 'cannot be set'))
  }
  validateClaimSpec(template.spec ?? {}, path.child('spec'), errors)
}

/** Checks the spec of a persistent volume claim. */
export function validateClaimSpec(spec: ClaimSpec, path: FieldPath, errors: FieldError[]): void {
  const modes = spec.accessModes ?? []
  const modesPath = path.child('accessModes')
  if (modes.length === 0) errors.push(required(modesPath, 'at least 1 access mode is required'))
  append(errors, labelSelectorErrors(spec.selector, path.child('selector')))
  checkAccessModes(errors, modesPath, modes)
  const storagePath = path.child('resources').key('storage')
  const storage = spec.resources?.requests?.['storage']
  if (storage === undefined) errors.push(required(storagePath))
  else if (quantityOf(storage).sign <= 0) {
    errors.push(invalid(storagePath, quantityOf(storage).toString(), 'must be greater than zero'))
  }
  checkClass(errors, path.child('storageClassName'), spec.storageClassName)
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Block' && spec.volumeMode !== 'Filesystem') {
    errors.push(unsupported(path.child('volumeMode'), spec.volumeMode, ['Block', 'Filesystem']))
  }
  const { dataSource, dataSourceRef } = spec
  if (dataSource) checkSource(dataSource, path.child('dataSource'), errors)
  if (dataSourceRef) {
    checkSource(dataSourceRef, path.child('dataSourceRef'), errors)
    if (dataSourceRef.namespace) {
      const at = path.child('dataSourceRef', 'namespace')
      addInvalid(errors, at, dataSourceRef.namespace, isDNS1123Label(dataSourceRef.namespace))
    }
  }
  // As in core/validation: the value of these two errors is a field path, which Go prints as an empty struct.
  if (dataSource && dataSourceRef?.namespace) {
    errors.push(invalid(path, new RawValue('{}'), 'may not be specified when dataSourceRef.namespace is specified'))
  } else if (dataSource && dataSourceRef && !sameSource(dataSource, dataSourceRef)) {
    errors.push(invalid(path, new RawValue('{}'), 'must match dataSourceRef'))
  }
  checkClass(errors, path.child('volumeAttributesClassName'), spec.volumeAttributesClassName)
}

/** Checks that access modes are known and that ReadWriteOncePod is the only one, if present. */
export function checkAccessModes(errors: FieldError[], path: FieldPath, modes: readonly string[]): void {
  let exclusive = false
  let shared = false
  for (const mode of modes) {
    if (!accessModes.includes(mode)) errors.push(unsupported(path, mode, accessModes))
    else if (mode === 'ReadWriteOncePod') exclusive = true
    else shared = true
  }
  if (exclusive && shared) errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'))
}

function checkClass(errors: FieldError[], path: FieldPath, name: string | undefined): void {
  if (name) addInvalid(errors, path, name, nameIsDNSSubdomain(name, false))
}

interface Source {
  apiGroup?: string | undefined
  kind?: string | undefined
  name?: string | undefined
}

function checkSource({ apiGroup, kind = '', name }: Source, path: FieldPath, errors: FieldError[]): void {
  if (!name) errors.push(required(path.child('name')))
  if (kind === '') errors.push(required(path.child('kind')))
  if (!apiGroup) {
    if (kind !== 'PersistentVolumeClaim') {
      errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
    }
  } else addInvalid(errors, path.child('apiGroup'), apiGroup, isDNS1123Subdomain(apiGroup))
}

function sameSource(a: Source, b: Source): boolean {
  return a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name
}
