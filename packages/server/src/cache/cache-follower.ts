import type { StoredObject } from '../resource/stored-object.ts'
import type { ResourceCache } from './resource-cache.ts'

/** The index that a {@link CacheFollower} maintains. */
export interface FollowingIndex {
  /** Removes all objects. */
  clear(): void
  add(object: StoredObject): void
  /** Removes the object with this key, if the index has it. */
  drop(key: string): void
}

/**
 * Keeps an index in step with a cache without a subscription: each lookup first processes the changes since the last one. An index that
 * is never used therefore costs nothing.
 */
export class CacheFollower {
  readonly #cache: ResourceCache
  readonly #index: FollowingIndex
  /** The epoch of the cache at the last rebuild; a new epoch invalidates the cursor. */
  #epoch = -1
  /** The position in the history of the cache up to which events are processed. */
  #cursor = 0

  constructor(cache: ResourceCache, index: FollowingIndex) {
    this.#cache = cache
    this.#index = index
  }

  /** Processes new events. Synchronous, so that a lookup sees one consistent state. */
  catchUp(): void {
    const cache = this.#cache
    if (this.#epoch !== cache.epoch) this.#rebuild()
    for (; this.#cursor < cache.end; this.#cursor++) {
      const event = cache.eventAt(this.#cursor)
      // The history no longer contains the event.
      if (event === 'lost') {
        this.#rebuild()
        return
      }
      if (!event) return
      this.#index.drop(event.object.key)
      if (event.type !== 'DELETED') this.#index.add(event.object)
    }
  }

  #rebuild(): void {
    this.#index.clear()
    for (const object of this.#cache.list(this.#cache.prefix)) this.#index.add(object)
    this.#epoch = this.#cache.epoch
    this.#cursor = this.#cache.end
  }
}
