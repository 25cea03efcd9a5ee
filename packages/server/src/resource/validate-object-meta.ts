import { encodeJson, validateFieldManager } from '@kubewright/api'
import { isDNS1123Label, isPathSegmentName, isQualifiedName, isValidLabelValue } from '@kubewright/base'
import { type FieldError, type FieldPath, forbidden, invalid, RawValue, required, tooLong } from '@kubewright/schema'
import type { MutableMeta } from './object.ts'

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'
const maxAnnotationBytes = 256 * 1024
const immutable = 'field is immutable'

/** A check of a name; `prefix` says that random characters will follow. */
export type NameCheck = (name: string, prefix: boolean) => readonly string[]

/** The check that holds for every resource: the name must be usable as a segment of a path. */
export const pathSegmentName: NameCheck = (name, prefix) => isPathSegmentName(name, prefix)

/** Checks metadata as on a create, after the name was generated (apimachinery/pkg/api/validation/objectmeta.go). */
export function validateObjectMeta(
  meta: MutableMeta,
  namespaced: boolean,
  checkName: NameCheck,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  if (meta.generateName) {
    for (const text of checkName(meta.generateName, true))
      errors.push(invalid(path.child('generateName'), meta.generateName, text))
  }
  if (!meta.name) errors.push(required(path.child('name'), 'name or generateName is required'))
  else for (const text of checkName(meta.name, false)) errors.push(invalid(path.child('name'), meta.name, text))

  if (namespaced) {
    if (!meta.namespace) errors.push(required(path.child('namespace'), ''))
    else
      for (const text of isDNS1123Label(meta.namespace))
        errors.push(invalid(path.child('namespace'), meta.namespace, text))
  } else if (meta.namespace) {
    errors.push(forbidden(path.child('namespace'), 'not allowed on this type'))
  }
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalid(path.child('generation'), meta.generation, 'must be greater than or equal to 0'))
  }
  errors.push(...validateDescription(meta, path))
  errors.push(...validateFinalizers(meta.finalizers ?? [], path.child('finalizers')))
  errors.push(...validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
  return errors
}

/** What every check of metadata looks at, those of updates too, so that errors about it are repeated. */
function validateDescription(meta: MutableMeta, path: FieldPath): FieldError[] {
  return [
    ...validateLabels(meta.labels, path.child('labels')),
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...validateOwnerReferences(meta.ownerReferences ?? [], path.child('ownerReferences')),
  ]
}

/** Checks what an update may not change, and what it may. */
export function validateObjectMetaUpdate(meta: MutableMeta, old: MutableMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers)
    const extra = [...new Set(meta.finalizers)].filter((finalizer) => !before.has(finalizer)).sort()
    if (extra.length > 0) {
      const list = `[]string{${extra.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`
      const text = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`
      errors.push(forbidden(path.child('finalizers'), text))
    }
  }
  if (!meta.resourceVersion) {
    errors.push(invalid(path.child('resourceVersion'), meta.resourceVersion ?? '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((meta[field] ?? '') !== (old[field] ?? ''))
      errors.push(invalid(path.child(field), meta[field] ?? '', immutable))
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (meta[field] !== old[field]) errors.push(invalid(path.child(field), meta[field] ?? null, immutable))
  }
  errors.push(...validateDescription(meta, path))
  errors.push(...validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
  return errors
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const key of Object.keys(labels ?? {}).sort()) {
    for (const text of isQualifiedName(key)) errors.push(invalid(path, key, text))
    for (const text of isValidLabelValue(labels![key]!)) errors.push(invalid(path, labels![key], text))
  }
  return errors
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key of Object.keys(annotations ?? {}).sort()) {
    for (const text of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, text))
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations![key]!)
  }
  if (size > maxAnnotationBytes) errors.push(tooLong(path, maxAnnotationBytes))
  return errors
}

function validateOwnerReferences(
  references: NonNullable<MutableMeta['ownerReferences']>,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references) {
    // One with more than two parts is no version at all.
    const parts = (reference.apiVersion ?? '').split('/')
    const version = parts.length > 2 ? '' : parts.at(-1)!
    if (version === '')
      errors.push(invalid(path.child('apiVersion'), reference.apiVersion ?? '', 'version must not be empty'))
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (!reference[field]) errors.push(invalid(path.child(field), reference[field] ?? '', 'must not be empty'))
    }
    if (reference.apiVersion === 'v1' && reference.kind === 'Event') {
      errors.push(invalid(path, asStruct(reference), '/v1, Kind=Event is disallowed from being an owner'))
    }
    if (reference.controller) {
      const name = `${reference.kind}/${reference.name}`
      if (controller === undefined) controller = name
      else {
        const text = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
        errors.push(invalid(path, asStruct(references), text))
      }
    }
  }
  return errors
}

function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const finalizer of finalizers) {
    for (const text of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, text))
  }
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    const text = `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`
    errors.push(invalid(path, finalizers, text))
  }
  return errors
}

type OwnerReference = NonNullable<MutableMeta['ownerReferences']>[number]

/** Prints references as Go prints the struct: its fields in their order, in which custom resources need not have them. */
function asStruct(value: OwnerReference | readonly OwnerReference[]): RawValue {
  return new RawValue(encodeJson(Array.isArray(value) ? value.map(inGoOrder) : inGoOrder(value as OwnerReference)))
}

function inGoOrder({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): object {
  return {
    apiVersion: apiVersion ?? '',
    kind: kind ?? '',
    name: name ?? '',
    uid: uid ?? '',
    controller,
    blockOwnerDeletion,
  }
}

const standardFinalizers = ['kubernetes', orphanFinalizer, foregroundFinalizer]

/** Finalizers of built-in kinds are qualified names or known ones. */
export function validateFinalizerNames(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const text = 'name is neither a standard finalizer name nor is it fully qualified'
  return finalizers.flatMap((finalizer, i) =>
    finalizer.includes('/') || standardFinalizers.includes(finalizer) ? [] : [invalid(path.index(i), finalizer, text)],
  )
}

function validateManagedFields(entries: readonly Record<string, unknown>[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, entry] of entries.entries()) {
    const at = path.index(i)
    const operation = entry['operation'] ?? ''
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), operation, 'must be `Apply` or `Update`'))
    }
    const type = entry['fieldsType'] ?? ''
    if (type !== 'FieldsV1' && type !== '') errors.push(invalid(at.child('fieldsType'), type, 'must be `FieldsV1`'))
    errors.push(...validateFieldManager(String(entry['manager'] ?? ''), at.child('manager')))
    if (Buffer.byteLength(String(entry['subresource'] ?? '')) > 256) errors.push(tooLong(at.child('subresource'), 256))
  }
  return errors
}
