import { isDeleting, type KubeObject } from '@kubewright/api'

/**
 * Decides which changes of objects are worth a reconcile. A missing function lets everything through.
 *
 * No predicate is asked about a deletion: the event that an object is gone, the update that starts its deletion, the first sight of
 * one that is being deleted, and the update between two objects of one name always pass. Otherwise clean-up work that starts with
 * a `deletionTimestamp`, which changes neither spec nor labels, would never be done. So there is no `delete` here.
 */
export interface Predicate<T extends KubeObject = KubeObject> {
  /** An object was added, or seen for the first time. */
  add?(object: T): boolean
  update?(before: T, after: T): boolean
}

/** Whether all predicates let an object that was added pass. */
export function passesAdd<T extends KubeObject>(predicates: readonly Predicate<T>[], object: T): boolean {
  if (predicates.length === 0 || isDeleting(object)) return true
  return predicates.every((predicate) => predicate.add?.(object) ?? true)
}

/** Whether all predicates let an update pass. */
export function passesUpdate<T extends KubeObject>(predicates: readonly Predicate<T>[], before: T, after: T): boolean {
  if (predicates.length === 0 || involvesDeletion(before, after)) return true
  return predicates.every((predicate) => predicate.update?.(before, after) ?? true)
}

function involvesDeletion(before: KubeObject, after: KubeObject): boolean {
  return (isDeleting(after) && !isDeleting(before)) || before.metadata.uid !== after.metadata.uid
}
