import { type FieldError, FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../registry/resource.ts'
import {
  type NameCheck,
  validateFinalizerNames,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../registry/validate-object-meta.ts'

const metadataPath = FieldPath.of('metadata')

/** Checks the metadata of a new object of a built-in kind, whose finalizers must be standard ones or have a domain. */
export function validateMeta(object: MutableObject, namespaced: boolean, checkName: NameCheck): FieldError[] {
  return [
    ...validateObjectMeta(object.metadata, namespaced, checkName, metadataPath),
    ...validateFinalizerNames(object.metadata.finalizers ?? [], metadataPath.child('finalizers')),
  ]
}

/** Checks the metadata of an update of a built-in kind. */
export function validateMetaUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  return [
    ...validateObjectMetaUpdate(object.metadata, old.metadata, metadataPath),
    ...validateFinalizerNames(object.metadata.finalizers ?? [], metadataPath.child('finalizers')),
  ]
}
