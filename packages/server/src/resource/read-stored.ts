import type { MutableObject } from './object.ts'
import type { Resource } from './resource.ts'
import type { StoredObject } from './stored-object.ts'

/** Stored objects as clients of the resource's version see them, in the same order; what has to be converted is converted at once. */
export async function readStored(
  { versioned }: Resource,
  stored: readonly StoredObject[],
): Promise<readonly StoredObject[]> {
  if (!versioned) return stored
  const seen = stored.map((object) => versioned.peek(object))
  if (!seen.includes(undefined)) return seen as StoredObject[]
  await versioned.load(stored.filter((_, index) => seen[index] === undefined))
  return stored.map((object) => versioned.peek(object) ?? object)
}

/** As {@link readStored} for one object. */
export async function readStoredObject(resource: Resource, stored: StoredObject): Promise<StoredObject> {
  const { versioned } = resource
  if (!versioned) return stored
  return versioned.peek(stored) ?? (await readStored(resource, [stored]))[0]!
}

/** A stored object as clients of the resource's version see it, for the caller to change. */
export async function copyStored(resource: Resource, stored: StoredObject): Promise<MutableObject> {
  const copy = (await readStoredObject(resource, stored)).copy()
  return resource.convert ? resource.convert.fromStorage(copy) : copy
}
