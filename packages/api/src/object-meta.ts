import type { DeepReadonly } from '@kubewright/base'
import type { TypeMeta } from './kind.ts'

/**
 * A reference from a dependent to its owner, which is in the same namespace or cluster-scoped. Garbage collection uses
 * it.
 */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  /** True on the one reference that points to the managing controller. */
  controller?: boolean
  /** True when a foreground deletion of the owner must wait until this object is deleted. */
  blockOwnerDeletion?: boolean
}

/** The fields of an object that one field manager owns, as tracked by the server. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

/** Metadata of a write. Fields that the server sets may be given only where Kubernetes allows it, as preconditions. */
export interface MetaDraft {
  /** Empty when the server generates the name from `generateName`; see {@link generateName}. */
  name: string
  generateName?: string
  namespace?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  /** As a precondition: the write fails unless the stored object has this uid. */
  uid?: string
  /** As a precondition: the write fails with a conflict unless this is the stored version. */
  resourceVersion?: string
  managedFields?: ManagedFieldsEntry[]
}

/** Metadata of a read: the written fields plus those that the server sets. */
export interface ObjectMeta extends MetaDraft {
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  /** Set when deletion was requested; the object remains until its finalizers are removed. */
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  /** Not filled since Kubernetes 1.20. */
  selfLink?: string
}

/** The metadata of a list. */
export interface ListMeta {
  resourceVersion?: string
  /** Present when more items follow; pass it with the next list request to get the next page. */
  continue?: string
  remainingItemCount?: number
  selfLink?: string
}

/** {@link ObjectMeta}, deeply readonly. A named interface, so that editors show its name instead of its fields. */
export interface ReadonlyObjectMeta extends DeepReadonly<ObjectMeta> {}

/** The fields that every API object has when read, deeply readonly. The parameter type of generic code. */
export interface KubeObject extends Readonly<TypeMeta> {
  readonly metadata: ReadonlyObjectMeta
}

/** A list of objects as the API server returns it. */
export interface KubeList<T> extends Readonly<TypeMeta> {
  readonly metadata: Readonly<ListMeta>
  readonly items: readonly T[]
}

/** The metadata that the helpers below read. Drafts, cached objects and plain JSON satisfy it. */
export interface HasMeta {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string | undefined
    readonly labels?: { readonly [key: string]: string } | undefined
    readonly annotations?: { readonly [key: string]: string } | undefined
    readonly finalizers?: readonly string[] | undefined
    readonly deletionTimestamp?: string | undefined
  }
}

/** The metadata that the helpers below change. Only drafts satisfy it. */
export interface HasMetaDraft {
  metadata: MetaDraft
}

/**
 * Metadata of an object whose name the server generates: `prefix` plus five random characters.
 *
 * @example
 * Job({ metadata: generateName('backup-', { labels: { app: 'backup' } }), spec })
 */
export function generateName(prefix: string, rest: Omit<MetaDraft, 'name' | 'generateName'> = {}): MetaDraft {
  return { name: '', generateName: prefix, ...rest }
}

/** True when deletion was requested; finalizers or a grace period still keep the object. */
export function isDeleting(object: HasMeta): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** True when the object has the finalizer. */
export function hasFinalizer(object: HasMeta, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/** Adds the finalizer to a draft unless it is present. Returns whether the draft changed. */
export function addFinalizer(draft: HasMetaDraft, finalizer: string): boolean {
  if (draft.metadata.finalizers?.includes(finalizer)) return false
  draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), finalizer]
  return true
}

/** Removes all occurrences of the finalizer from a draft. Returns whether the draft changed. An empty list is kept. */
export function removeFinalizer(draft: HasMetaDraft, finalizer: string): boolean {
  const before = draft.metadata.finalizers
  if (!before?.includes(finalizer)) return false
  draft.metadata.finalizers = before.filter((f) => f !== finalizer)
  return true
}

/** The value of a label, or undefined. */
export function labelOf(object: HasMeta, key: string): string | undefined {
  return ownValue(object.metadata.labels, key)
}

/** The value of an annotation, or undefined. */
export function annotationOf(object: HasMeta, key: string): string | undefined {
  return ownValue(object.metadata.annotations, key)
}

/** Sets a label on a draft. Returns whether the draft changed. */
export function setLabel(draft: HasMetaDraft, key: string, value: string): boolean {
  return setEntry((draft.metadata.labels ??= {}), key, value)
}

/** Sets an annotation on a draft. Returns whether the draft changed. */
export function setAnnotation(draft: HasMetaDraft, key: string, value: string): boolean {
  return setEntry((draft.metadata.annotations ??= {}), key, value)
}

// Users choose the keys, so properties of Object.prototype must not be returned.
function ownValue(map: { readonly [key: string]: string } | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}

function setEntry(map: Record<string, string>, key: string, value: string): boolean {
  if (ownValue(map, key) === value) return false
  map[key] = value
  return true
}
