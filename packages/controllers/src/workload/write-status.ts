import { type AnyKind, type Infer, isNotFound, type KubeObject } from '@kubewright/api'
import { deepEqual, isJsonObject } from '@kubewright/base'
import type { Client } from '@kubewright/client'

/**
 * Writes a status if it differs from the object's, with the object's resource version: a write based on a stale object
 * fails with a Conflict and is retried. Resolves to the updated object.
 */
export async function writeStatus<K extends AnyKind, T extends KubeObject & { readonly status?: unknown }>(
  client: Client,
  kind: K,
  object: T,
  status: object,
): Promise<T> {
  if (sameContent(object.status, status)) return object
  try {
    const written: Infer<K> = await client.subresource(kind, 'status').update({ ...object, status })
    return written as T
  } catch (error) {
    // The object was deleted meanwhile, so its status no longer matters.
    if (isNotFound(error)) return object
    throw error
  }
}

/** Whether two values are equal, ignoring nulls and empty objects, which servers add. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameContent(item, b[i]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return deepEqual(a ?? undefined, b ?? undefined)
  for (const key in a) if (!sameField(a[key], b[key])) return false
  for (const key in b) if (a[key] === undefined && !isNothing(b[key])) return false
  return true
}

function sameField(a: unknown, b: unknown): boolean {
  return isNothing(a) ? isNothing(b) : !isNothing(b) && sameContent(a, b)
}

/** Whether a field has no value that counts. An empty list does. */
function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (!isJsonObject(value)) return false
  for (const key in value) if (!isNothing(value[key])) return false
  return true
}
