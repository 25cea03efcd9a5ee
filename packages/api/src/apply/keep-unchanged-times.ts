import { deepEqual, isJsonObject } from '@kubewright/base'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import type { JsonObject } from '../own-property.ts'

/**
 * Restores the managedFields times of the old object when nothing else changed, so that a no-op write stays a no-op and
 * creates no new resource version. Call it last before the write (handlers/fieldmanager/equality.go).
 */
export function keepUnchangedTimes(before: JsonObject, after: JsonObject): JsonObject {
  const old = entriesOf(before)
  const next = entriesOf(after)
  if (old.length === 0 || old.length !== next.length) return after
  let moved = false
  for (const [i, entry] of next.entries()) {
    const { time: oldTime, ...oldRest } = old[i] as ManagedFieldsEntry
    const { time, ...rest } = entry
    if (!deepEqual(oldRest, rest)) return after
    if (oldTime !== time) moved = true
  }
  if (!moved || !deepEqual(withoutEntries(before), withoutEntries(after))) return after
  return { ...after, metadata: { ...(after['metadata'] as JsonObject), managedFields: old } }
}

function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] {
  const metadata = object['metadata']
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : []
}

function withoutEntries(object: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields: undefined } }
}
