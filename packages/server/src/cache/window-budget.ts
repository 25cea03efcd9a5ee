import { defineBudget } from '@kubewright/base'
import type { CacheEvent, ResourceCache } from './resource-cache.ts'

/** Limits of {@link WindowBudget}. */
export interface WindowLimits {
  /** The bytes of old object versions that all windows together keep at most. @default 64 MiB */
  readonly bytes?: number | undefined
}

const defaultBytes = defineBudget(64 * 1024 * 1024, {
  group: 'server',
  what: 'bytes of old object versions in the windows of all watch caches',
  unit: 'bytes',
  option: '`history.bytes`, `up --history-mib`',
  answer: 'the resource with the largest window drops its oldest events: watches that need them receive 410',
  kubernetes: 'no',
})
/** The newest events keep their encoded and parsed forms for watchers that keep up: as many as have this size, and at most this number. */
const warmBytes = 8 * 1024 * 1024
const warmEvents = 1000

/**
 * Limits the memory of the event windows of all caches by bytes. When the limit is exceeded, the cache with the largest window loses its
 * oldest events, so that a busy resource with large objects does not take the history of the others.
 *
 * An event counts with the size of the object version that it replaced, because nothing else keeps that version in memory. Parsed and
 * encoded forms do not count: only the newest events have them.
 */
export class WindowBudget {
  readonly #limit: number
  readonly #caches = new Set<ResourceCache>()
  /** The newest events of all caches, oldest first. Those before the position are forgotten: a shift for each change would move all others. */
  #warm: (CacheEvent | undefined)[] = []
  #warmFrom = 0
  #warmBytes = 0
  #bytes = 0

  constructor({ bytes = defaultBytes }: WindowLimits = {}) {
    this.#limit = bytes
  }

  /** The bytes of the old object versions in all windows. */
  get bytes(): number {
    return this.#bytes
  }

  get limit(): number {
    return this.#limit
  }

  /** Counts an event that was appended to the window of a cache. */
  add(cache: ResourceCache, event: CacheEvent): void {
    this.#bytes += event.replacedBytes
    this.#caches.add(cache)
    this.#warm.push(event)
    this.#warmBytes += event.object.size
  }

  /** Deducts events that left the window of a cache. */
  subtract(bytes: number): void {
    this.#bytes -= bytes
  }

  /** Stops counting the window of a cache that was dropped. */
  forget(cache: ResourceCache): void {
    if (this.#caches.delete(cache)) this.#bytes -= cache.windowBytes
  }

  /**
   * Enforces the limits. Called before a batch of changes is applied and not after it, so that watchers that keep up have read all events
   * that can be dropped. Between two calls, the windows exceed the limit at most by the last batch.
   */
  enforce(): void {
    while (this.#bytes > this.#limit) this.#largest().shrink()
    while (this.#warmBytes > warmBytes || this.#warm.length - this.#warmFrom > warmEvents) {
      const event = this.#warm[this.#warmFrom]
      if (!event) break
      event.releaseForms()
      this.#warmBytes -= event.object.size
      this.#warm[this.#warmFrom++] = undefined
    }
    if (this.#warmFrom < warmEvents) return
    this.#warm = this.#warm.slice(this.#warmFrom)
    this.#warmFrom = 0
  }

  #largest(): ResourceCache {
    let largest: ResourceCache | undefined
    for (const cache of this.#caches) {
      if (cache.windowBytes === 0) this.#caches.delete(cache)
      else if (largest === undefined || cache.windowBytes > largest.windowBytes) largest = cache
    }
    return largest!
  }
}
