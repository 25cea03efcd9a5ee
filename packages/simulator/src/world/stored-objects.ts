import type { KubeObject } from '@kubewright/api'
import type { Store } from '@kubewright/storage'

/** All objects that were written after a revision, and those of `others`, the plurals of resources. */
export async function objectsSince(
  store: Store,
  revision: number,
  others: ReadonlySet<string> = new Set(),
): Promise<KubeObject[]> {
  const { entries } = await store.list({ prefix: '/registry/' })
  const objects: KubeObject[] = []
  for (const { key, modRevision, value } of entries) {
    // The group of the resource may come before its plural.
    if (modRevision <= revision && !key.split('/', 4).some((part) => others.has(part))) continue
    const object = parseObject(value)
    if (object !== undefined) objects.push(object)
  }
  return objects
}

/** Decodes a stored object. Returns undefined for the allocations of the server, which are stored beside objects. */
export function parseObject(value: Uint8Array | undefined): KubeObject | undefined {
  if (value === undefined) return undefined
  const object = JSON.parse(Buffer.from(value).toString()) as Partial<KubeObject>
  return object.kind === undefined || object.metadata?.name === undefined ? undefined : (object as KubeObject)
}
