import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { Client } from '@kubewright/client'

/**
 * Writes a status if it differs from what the object has, at the version of the object: whoever read a stale one is told so by a
 * Conflict, and looks again. Resolves to the object as it is then.
 */
export async function writeStatus<K extends AnyKind, T extends KubeObject & { readonly status?: unknown }>(
  client: Client,
  kind: K,
  object: T,
  status: object,
): Promise<T> {
  if (deepEqual(object.status, status)) return object
  const written: Infer<K> = await client.subresource(kind, 'status').update({ ...object, status })
  return written as T
}
