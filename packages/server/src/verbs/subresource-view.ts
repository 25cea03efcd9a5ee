import { newConflict } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { MutableObject } from '../resource/object.ts'
import type { Endpoint } from './endpoint.ts'

/** A stored object as the endpoint shows it: itself, or the view of a subresource such as scale. */
export function showObject({ view }: Endpoint, object: MutableObject): MutableObject {
  return view ? view.show(object) : object
}

/** As {@link showObject}, with the managed fields from which writes through the endpoint continue. */
export function showWithFields({ view }: Endpoint, object: MutableObject): MutableObject {
  if (!view) return object
  const shown = (view.showForWrite ?? view.show)(object)
  const managedFields = view.managedFields?.(object)
  if (managedFields) shown.metadata.managedFields = managedFields
  return shown
}

/**
 * The next stored object after a write of what the endpoint shows: the written object itself, or a copy of `stored` into which a view
 * was written back. Throws a Conflict when a view names another uid.
 */
export function takeShown(
  { view, groupResource, subresource }: Endpoint,
  stored: MutableObject,
  shown: MutableObject,
): MutableObject {
  if (!view) return shown
  const { uid, resourceVersion } = shown.metadata
  if (uid && uid !== stored.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${stored.metadata.uid}`
    const resource = `${groupResource.resource}/${subresource}`
    throw newConflict({ group: groupResource.group, resource }, stored.metadata.name ?? '', why)
  }
  const next = deepCopy(stored)
  // The view's version is the precondition of the write; a view without one is written to the newest object.
  if (resourceVersion) next.metadata.resourceVersion = resourceVersion
  else delete next.metadata.resourceVersion
  view.put(next, shown)
  return next
}
