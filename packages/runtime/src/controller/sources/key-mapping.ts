import {
  type AnyKind,
  formatKey,
  gvkOf,
  type KubeObject,
  keyOf,
  type OwnerReference,
  toNameAndNamespace,
} from '@kubewright/api'
import type { Logger } from '@kubewright/base'
import type { Client, Key } from '@kubewright/client'

/** What a mapping may use to find the keys. */
export interface MapContext {
  /** Reads from the cache where it can. */
  readonly client: Client
  readonly log: Logger
}

/**
 * Says which keys an object concerns. Asked about the object before and after a change, so that one which moves from one owner to
 * another concerns both. It may be asynchronous; then the next change of the source waits. One that fails is tried again.
 */
export type KeyMapping<T extends KubeObject = KubeObject> = (
  object: T,
  context: MapContext,
) => Iterable<string> | Promise<Iterable<string>>

/** Maps an object to its own key. */
export const forObject: KeyMapping = (object) => [keyOf(object)]

/** What {@link forOwner} takes. */
export interface ForOwnerOptions {
  /** Whether all owners of the kind are meant, and not only the one that is the controller. @default false */
  readonly everyOwner?: boolean
}

/**
 * Maps an object to its owners of a kind. The version in the owner reference does not matter, since versions of a group name the
 * same objects.
 */
export function forOwner(kind: AnyKind, options: ForOwnerOptions = {}): KeyMapping {
  const { everyOwner = false } = options
  const matches = (reference: Readonly<OwnerReference>): boolean =>
    (everyOwner || reference.controller === true) &&
    reference.kind === kind.kind &&
    gvkOf(reference).group === kind.group
  return ({ metadata: { namespace, ownerReferences = [] } }) => {
    const keys: string[] = []
    for (const reference of ownerReferences) {
      if (matches(reference))
        keys.push(kind.scope === 'Cluster' ? reference.name : formatKey(reference.name, namespace))
    }
    return keys
  }
}

/** Maps an object to whatever the function says, as keys or as names with a namespace. */
export function mapTo<T extends KubeObject>(
  toKeys: (object: T, context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>,
): KeyMapping<T> {
  return (object, context) => {
    const keys = toKeys(object, context)
    return keys instanceof Promise ? keys.then(keyTexts) : keyTexts(keys)
  }
}

/** Keys in either form as texts. */
export function keyTexts(keys: Iterable<Key>): string[] {
  const texts: string[] = []
  for (const key of keys) {
    if (typeof key === 'string') texts.push(key)
    else {
      const { name, namespace } = toNameAndNamespace(key)
      texts.push(formatKey(name, namespace))
    }
  }
  return texts
}
