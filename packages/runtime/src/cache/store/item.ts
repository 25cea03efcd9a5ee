import { type KubeObject, keyOf } from '@kubewright/api'
import { EncodedObject } from '@kubewright/client'

/** An object on its way to, or in, a store: parsed, or as the bytes that came over the wire. */
export type Item<T> = T | EncodedObject<T>

/** Whether the item is bytes. */
export function isEncoded<T>(item: Item<T>): item is EncodedObject<T> {
  return item instanceof EncodedObject
}

/** The key of an object, whatever its form. */
export function keyOfItem(item: Item<KubeObject>): string {
  return isEncoded(item) ? item.key : keyOf(item)
}

/** The version of an object, whatever its form. */
export function versionOfItem(item: Item<KubeObject>): string {
  return isEncoded(item) ? item.resourceVersion : item.metadata.resourceVersion
}
