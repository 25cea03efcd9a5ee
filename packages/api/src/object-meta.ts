import type { DeepReadonly } from '@kubewright/base'
import type { TypeMeta } from './kind.ts'

/** A dependency on another object in the same namespace (or a cluster-scoped one); the garbage collector follows it. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  /** True on the one reference that points to the managing controller. */
  controller?: boolean
  /** True when a foreground deletion of the owner has to wait for this object. */
  blockOwnerDeletion?: boolean
}

/** What one field manager owns of an object, as the server tracks it. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: 'Apply' | 'Update'
  apiVersion?: string
  time?: string
  fieldsType?: 'FieldsV1'
  fieldsV1?: Record<string, unknown>
  subresource?: string
}

/** The metadata that you write. The fields that the server fills may be given where Kubernetes allows it (as preconditions). */
export interface MetaDraft {
  /** The empty string asks for a name made from `generateName`; see {@link generateName}. */
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

/** The metadata that you read: what was written plus what the server filled in. */
export interface ObjectMeta extends MetaDraft {
  uid: string
  resourceVersion: string
  generation: number
  creationTimestamp: string
  /** Present once deletion was asked for; the object stays until its finalizers are gone. */
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  /** Not filled since Kubernetes 1.20. */
  selfLink?: string
}

/** The metadata of a list. */
export interface ListMeta {
  resourceVersion?: string
  /** Present when more items follow: pass it back to get the next page. */
  continue?: string
  remainingItemCount?: number
  selfLink?: string
}

/** {@link ObjectMeta}, deeply readonly. An interface of its own, so that editors show its name instead of its fields. */
export interface ReadonlyObjectMeta extends DeepReadonly<ObjectMeta> {}

/** The least that every API object is, as read and deeply readonly: what generic code takes. */
export interface KubeObject extends Readonly<TypeMeta> {
  readonly metadata: ReadonlyObjectMeta
}

/** A list of objects as the API returns it. */
export interface KubeList<T> extends Readonly<TypeMeta> {
  readonly metadata: Readonly<ListMeta>
  readonly items: readonly T[]
}

/** The part of an object that the metadata helpers read; drafts, objects from a cache and plain JSON all fit. */
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

/** The part of a draft that the metadata helpers change. */
export interface HasMetaDraft {
  metadata: MetaDraft
}

/**
 * Metadata of an object that the server is to name: `prefix` plus five random characters.
 *
 * @example
 * Job({ metadata: generateName('backup-', { labels: { app: 'backup' } }), spec })
 */
export function generateName(prefix: string, rest: Omit<MetaDraft, 'name' | 'generateName'> = {}): MetaDraft {
  return { name: '', generateName: prefix, ...rest }
}

/** True once the object is being deleted and only finalizers or a grace period keep it. */
export function isDeleting(object: HasMeta): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** True when the object carries the finalizer. */
export function hasFinalizer(object: HasMeta, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/** Adds the finalizer to a draft unless it is there; true when the draft changed. */
export function addFinalizer(draft: HasMetaDraft, finalizer: string): boolean {
  if (draft.metadata.finalizers?.includes(finalizer)) return false
  draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), finalizer]
  return true
}

/** Removes the finalizer from a draft, all occurrences; true when the draft changed. The list is kept even when empty. */
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

/** Sets a label on a draft; true when the draft changed. */
export function setLabel(draft: HasMetaDraft, key: string, value: string): boolean {
  return setEntry((draft.metadata.labels ??= {}), key, value)
}

/** Sets an annotation on a draft; true when the draft changed. */
export function setAnnotation(draft: HasMetaDraft, key: string, value: string): boolean {
  return setEntry((draft.metadata.annotations ??= {}), key, value)
}

// Label keys come from users, so names of Object.prototype must not be found.
function ownValue(map: { readonly [key: string]: string } | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined
}

function setEntry(map: Record<string, string>, key: string, value: string): boolean {
  if (ownValue(map, key) === value) return false
  map[key] = value
  return true
}
