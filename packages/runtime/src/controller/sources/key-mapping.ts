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

/** The context of a mapping. */
export interface MapContext {
  /** Reads from the cache where possible. */
  readonly client: Client
  readonly log: Logger
  /**
   * Resolves when the cache has the objects of a kind; undefined when it has them already, or when no controller watches
   * all of them. A mapping that lists a kind waits for it, so that the initial list does not cause one request per
   * object.
   */
  readonly synced?: ((kind: AnyKind) => Promise<void> | undefined) | undefined
  /** The label selector of the controller, in the syntax of `labelSelector=`. @default all objects */
  readonly selector?: string | undefined
}

/**
 * Maps an object to the keys that it concerns. Called with the object before and after a change, so that an object
 * which moves between owners concerns both. While an asynchronous mapping runs, the next change of the source waits. A
 * failed mapping is retried.
 */
export type KeyMapping<T extends KubeObject = KubeObject> = (
  object: T,
  context: MapContext,
) => Iterable<string> | Promise<Iterable<string>>

/** Maps an object to its own key. */
export const forObject: KeyMapping = (object) => [keyOf(object)]

/** Options of {@link forOwner}. */
export interface ForOwnerOptions {
  /** Whether to include owners that are not the controller of the object. @default false */
  readonly everyOwner?: boolean | undefined
}

/**
 * Maps an object to its owners of a kind. The version in the owner reference is ignored, since all versions of a group
 * refer to the same objects.
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

/** Creates a mapping from a function that returns keys as strings or as names with namespaces. */
export function mapTo<T extends KubeObject>(
  toKeys: (object: T, context: MapContext) => Iterable<Key> | Promise<Iterable<Key>>,
): KeyMapping<T> {
  return (object, context) => {
    const keys = toKeys(object, context)
    return keys instanceof Promise ? keys.then(keyTexts) : keyTexts(keys)
  }
}

/** Converts keys of either form to strings. */
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
