import { gvkOf } from '@kubewright/api'
import type { ObjectPlace, OwnerLink } from './object-graph.ts'

const limit = 500

/**
 * A bounded cache of owners that do not exist, so that many dependents of one absent owner need a single request. The
 * key includes the namespace of the lookup: the same uid may exist in another namespace, where references to it are
 * valid.
 */
export class AbsentOwners {
  readonly #keys = new Set<string>()

  /** Whether the owner is known to be absent for an object in this namespace. */
  has(owner: OwnerLink, namespace: string | undefined): boolean {
    return this.#keys.has(keyOf(owner, owner.uid, undefined)) || this.#keys.has(keyOf(owner, owner.uid, namespace))
  }

  add(place: ObjectPlace, uid: string): void {
    const key = keyOf(place, uid, place.namespace)
    this.#keys.delete(key)
    this.#keys.add(key)
    if (this.#keys.size > limit) for (const oldest of this.#keys) return void this.#keys.delete(oldest)
  }
}

function keyOf(
  named: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  uid: string,
  namespace: string | undefined,
): string {
  const { group } = gvkOf(named)
  return [group, named.kind, namespace ?? '', named.name, uid].join('/')
}
