import { isDeleting, type KubeObject } from '@kubewright/api'

/**
 * Decides which changes of objects trigger a reconcile. A missing function accepts every change.
 *
 * Predicates are not called for deletions: the deletion event, the update that starts a deletion, the first sight of an
 * object that is being deleted, and an update between two objects with the same name always pass. Otherwise clean-up
 * work, which starts with a `deletionTimestamp` that changes neither spec nor labels, would never run. Therefore there
 * is no `delete` here.
 */
export interface Predicate<T extends KubeObject = KubeObject> {
  /** An object was added, or seen for the first time. */
  add?(object: T): boolean
  update?(before: T, after: T): boolean
}

/** Whether all predicates accept an added object. */
export function passesAdd<T extends KubeObject>(predicates: readonly Predicate<T>[], object: T): boolean {
  if (predicates.length === 0 || isDeleting(object)) return true
  return predicates.every((predicate) => predicate.add?.(object) ?? true)
}

/** Whether all predicates accept an update. */
export function passesUpdate<T extends KubeObject>(predicates: readonly Predicate<T>[], before: T, after: T): boolean {
  if (predicates.length === 0 || involvesDeletion(before, after)) return true
  return predicates.every((predicate) => predicate.update?.(before, after) ?? true)
}

function involvesDeletion(before: KubeObject, after: KubeObject): boolean {
  return (isDeleting(after) && !isDeleting(before)) || before.metadata.uid !== after.metadata.uid
}
