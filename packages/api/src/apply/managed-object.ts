import type { ManagedFieldsEntry } from '../object-meta.ts'
import { getOwn, isObject, type JsonObject, setOwn } from '../patch/own-property.ts'

/**
 * The empty object with a null wherever the new one has a null and it has nothing. Kinds that write null for an unset field write it
 * in their empty form too, so such a null is nobody's doing.
 */
export function withNulls(empty: JsonObject, next: JsonObject): JsonObject {
  let out: Record<string, unknown> | undefined
  for (const key in next) {
    const value = next[key]
    const known = getOwn(empty, key)
    const filled =
      value === null && known === undefined
        ? null
        : isObject(known) && isObject(value)
          ? withNulls(known, value)
          : known
    if (filled === known) continue
    out ??= { ...empty }
    setOwn(out, key, filled)
  }
  return out ?? empty
}

/** The metadata of an object; empty when it has none. */
export function metadataOf(object: JsonObject): JsonObject {
  const metadata = getOwn(object, 'metadata')
  return isObject(metadata) ? metadata : {}
}

/** The managedFields of an object; undefined when it has none. */
export function managedFieldsOf(object: JsonObject): readonly ManagedFieldsEntry[] | undefined {
  const entries = metadataOf(object)['managedFields']
  // Entries come from the API server's own writes, or are checked one by one when decoded.
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : undefined
}

/** The object without managedFields, as it is returned when its fields cannot be tracked. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  return withManagedFields(object, undefined)
}

/** The object with these managedFields, or without any; the very same object when it has none and should have none. */
export function withManagedFields(object: JsonObject, entries: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  const metadata = getOwn(object, 'metadata')
  if (entries === undefined) {
    if (!isObject(metadata) || metadata['managedFields'] === undefined) return object
    const { managedFields: _, ...rest } = metadata
    return { ...object, metadata: rest }
  }
  return { ...object, metadata: { ...(isObject(metadata) ? metadata : {}), managedFields: entries } }
}

/** True for an entry that says nothing, by which clients ask to clear managedFields. */
export function isBlank(entry: ManagedFieldsEntry | undefined): boolean {
  return (
    entry !== undefined && Object.values(entry).every((value) => value === undefined || value === null || value === '')
  )
}
