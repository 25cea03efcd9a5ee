import { type AnyKind, type Infer, isNotFound, type KubeObject } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
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
  return deepEqual(a, b) || deepEqual(essence(a), essence(b))
}

function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence)
  if (typeof value !== 'object' || value === null) return value ?? undefined
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    const left = essence(item)
    const empty = typeof left === 'object' && left !== null && !Array.isArray(left) && Object.keys(left).length === 0
    if (left !== undefined && !empty) result[key] = left
  }
  return result
}
