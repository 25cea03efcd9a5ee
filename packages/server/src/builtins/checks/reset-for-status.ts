import type { MutableObject } from '../../resource/object.ts'
import { carryOver } from '../../resource/status-strategy.ts'

const kept = ['deletionTimestamp', 'generation', 'selfLink', 'labels', 'annotations', 'finalizers', 'ownerReferences']

/** Restores the metadata of an object, except for managed fields (meta/v1, ResetObjectMetaForStatus). */
export function resetForStatus(object: MutableObject, old: MutableObject): void {
  for (const field of kept) carryOver(object, old, ['metadata', field])
}
