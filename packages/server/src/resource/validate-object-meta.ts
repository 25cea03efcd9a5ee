import { append, goQuote } from '@kubewright/base'
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  validateAnnotations,
  validateLabels,
  validateManagedFields,
  validateOwnerReferences,
} from '@kubewright/schema'
import type { MutableMeta } from './object.ts'

/** Set by the propagation policy Orphan. */
export const orphanFinalizer = 'orphan'
/** Set by the propagation policy Foreground. */
export const foregroundFinalizer = 'foregroundDeletion'
const immutable = 'field is immutable'

/**
 * Validates the metadata of an update: immutable fields, and those that every write validates. An update passes through the checks of a
 * create too, so errors about the latter are reported twice, as by kube-apiserver.
 */
export function validateObjectMetaUpdate(meta: MutableMeta, old: MutableMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers)
    const extra = [...new Set(meta.finalizers)].filter((finalizer) => !before.has(finalizer)).sort()
    if (extra.length > 0) {
      const list = `[]string{${extra.map((finalizer) => goQuote(finalizer)).join(', ')}}`
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
  append(errors, validateLabels(meta.labels, path.child('labels')))
  append(errors, validateAnnotations(meta.annotations, path.child('annotations')))
  append(errors, validateOwnerReferences(meta.ownerReferences ?? [], path.child('ownerReferences')))
  append(errors, validateManagedFields(meta.managedFields ?? [], path.child('managedFields')))
  return errors
}

const standardFinalizers = ['kubernetes', orphanFinalizer, foregroundFinalizer]

/** Checks that each finalizer has a domain or is a standard one, as built-in kinds require. */
export function validateFinalizerNames(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const text = 'name is neither a standard finalizer name nor is it fully qualified'
  return finalizers.flatMap((finalizer, i) =>
    finalizer.includes('/') || standardFinalizers.includes(finalizer) ? [] : [invalid(path.index(i), finalizer, text)],
  )
}
