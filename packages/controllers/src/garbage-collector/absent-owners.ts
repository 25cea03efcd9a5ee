import { gvkOf } from '@kubewright/api'
import type { ObjectPlace, OwnerLink } from './object-graph.ts'

const limit = 500

/**
 * Remembers a bounded number of owners that do not exist, so that many dependents need one question. An owner is known by where it
 * was looked for, not by its uid alone: it may exist in a namespace where others refer to it rightly.
 */
export class AbsentOwners {
  readonly #keys = new Set<string>()

  /** Whether an owner that an object of this namespace refers to is known to be absent. */
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
