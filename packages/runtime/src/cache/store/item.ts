import { type KubeObject, keyOf } from '@kubewright/api'
import { EncodedObject } from '@kubewright/client'

/** An object in a store or on its way to it: parsed, or encoded as received. */
export type Item<T> = T | EncodedObject<T>

/** Whether the item is encoded. */
export function isEncoded<T>(item: Item<T>): item is EncodedObject<T> {
  return item instanceof EncodedObject
}

/** The key of an object in either form. */
export function keyOfItem(item: Item<KubeObject>): string {
  return isEncoded(item) ? item.key : keyOf(item)
}

/** The resource version of an object in either form. */
export function versionOfItem(item: Item<KubeObject>): string {
  return isEncoded(item) ? item.resourceVersion : item.metadata.resourceVersion
}
