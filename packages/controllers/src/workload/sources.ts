import { type AnyKind, controllerOf, type Infer, type KubeObject, keyOf, type Selector } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { forOwner, kindSource, type Source } from '@kubewright/runtime'

/** Finds the keys of the owners that may adopt an object without a controller. */
export type FindAdopters<T> = (object: T, client: Client) => Promise<readonly string[]>

/**
 * A source of the objects of a kind that enqueues the key of their controller. An object without a controller enqueues
 * the owners that may adopt it.
 */
export function controlled<K extends AnyKind>(kind: K, owner: AnyKind, adopters?: FindAdopters<Infer<K>>): Source {
  const byController = forOwner(owner)
  return kindSource(kind, {
    name: `${kind.kind} (controlled)`,
    map: (object, context) => {
      const orphan = controllerOf(object) === undefined && object.metadata.deletionTimestamp === undefined
      return orphan && adopters !== undefined ? adopters(object, context.client) : byController(object, context)
    },
  })
}

/** Finds the objects of a kind in the object's namespace whose selector matches its labels. */
export function selectedBy<K extends AnyKind>(
  kind: K,
  selectorOf: (owner: Infer<K>) => Selector,
): FindAdopters<KubeObject> {
  return async ({ metadata: { namespace = '', labels } }, client) => {
    const owners: readonly Infer<K>[] = await client.list(kind, { namespace })
    return owners.filter((owner) => selectorOf(owner).matches(labels)).map((owner) => keyOf(owner as KubeObject))
  }
}
