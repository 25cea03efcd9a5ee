import { type KubeObject, keyOf } from '@kubewright/api'
import type { Delta } from '../reflector/delta-fifo.ts'
import type { Indexer } from '../store/indexer.ts'
import { keyOfItem, versionOfItem } from '../store/item.ts'
import { hasReached } from '../store/version-order.ts'
import { Change } from './change.ts'

/**
 * Objects that writes of this process have returned and the store has not received yet. If the watch is interrupted and
 * another client deletes such an object meanwhile, the next list does not contain it, and the store has nothing to
 * compare with: without the announcement, handlers would never learn that the object is gone.
 */
export class AnnouncedObjects<T extends KubeObject> {
  readonly #store: Indexer<T>
  readonly #objects = new Map<string, T>()

  constructor(store: Indexer<T>) {
    this.#store = store
  }

  /** Adds an object, in the form in which the store holds objects, unless the store has received it. */
  announce(object: T): void {
    const { uid, resourceVersion } = object.metadata
    const key = keyOf(object)
    if (hasReached(this.#store.resourceVersion, resourceVersion) || this.#store.get(key)?.metadata.uid === uid) return
    this.#objects.set(key, object)
  }

  /**
   * Drops the objects that the store has received with a delta, after it was applied. For each object that a list shows
   * to be gone, returns its addition and its deletion.
   */
  received(delta: Delta<T>): Change<T>[] {
    if (this.#objects.size === 0 || delta.type === 'Sync') return []
    if (delta.type === 'Replaced') return this.#missed(delta.resourceVersion)
    if (delta.type === 'Bookmark') {
      this.#objects.forEach(({ metadata }, key) => {
        if (hasReached(delta.resourceVersion, metadata.resourceVersion)) this.#objects.delete(key)
      })
      return []
    }
    const key = keyOfItem(delta.object)
    const announced = this.#objects.get(key)
    // Events of an earlier object with the same name say nothing about this one.
    if (announced && hasReached(versionOfItem(delta.object), announced.metadata.resourceVersion)) {
      this.#objects.delete(key)
    }
    return []
  }

  #missed(resourceVersion: string): Change<T>[] {
    return this.#reached(resourceVersion).flatMap((key) => {
      const object = this.#objects.get(key)!
      this.#objects.delete(key)
      if (this.#store.get(key)?.metadata.uid === object.metadata.uid) return []
      const parts = { key, sync: false, initial: false }
      return [
        new Change(this.#store.hot, { ...parts, before: undefined, after: object }),
        new Change(this.#store.hot, { ...parts, before: object, after: undefined, last: object, lastUnknown: true }),
      ]
    })
  }

  /** The keys of the objects that a store at this version has received, if they still exist. */
  #reached(resourceVersion: string): string[] {
    return [...this.#objects].flatMap(([key, { metadata }]) =>
      hasReached(resourceVersion, metadata.resourceVersion) ? [key] : [],
    )
  }
}
