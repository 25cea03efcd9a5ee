import type { Clock, Logger } from '@kubewright/base'
import { type Change, CompactedError, type Store } from '@kubewright/storage'
import { storedObject } from '../resource/stored-object.ts'
import { ResourceCache } from './resource-cache.ts'

/** The root of all keys. */
export const registryRoot = '/registry/'

/** A cache on its way. */
interface Loading {
  /** What happened since its list was asked for. */
  readonly changes: Change[]
  /** History was lost meanwhile: the list and the changes do not meet. */
  broken: boolean
  readonly cache: Promise<ResourceCache>
}

/**
 * Follows the whole store with one watch and keeps the caches of all resources, so that every reader sees changes in one order. Changes
 * of resources that nobody asked for yet are ignored until {@link StoreFeed.cache} is called for them.
 */
export class StoreFeed implements AsyncDisposable {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  readonly #caches = new Map<string, ResourceCache>()
  readonly #loading = new Map<string, Loading>()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  #revision = 0
  #running: Promise<void> | undefined

  constructor(store: Store, clock: Clock, log: Logger) {
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  /** Everything up to this revision is in the caches. */
  get revision(): number {
    return this.#revision
  }

  async start(): Promise<void> {
    this.#revision = await this.#store.revision()
    this.#running = this.#follow()
  }

  /** The cache of a resource, filled on first use. The prefix ends with a slash. */
  async cache(prefix: string): Promise<ResourceCache> {
    const existing = this.#caches.get(prefix)
    if (existing) return existing
    let loading = this.#loading.get(prefix)
    if (!loading) {
      const changes: Change[] = []
      loading = { changes, broken: false, cache: this.#load(prefix, () => this.#loading.get(prefix)!) }
      this.#loading.set(prefix, loading)
    }
    return loading.cache
  }

  /** Lets go of the cache of a resource that is no longer served. Who still holds it sees no further changes. */
  forget(prefix: string): void {
    this.#caches.delete(prefix)
  }

  /** Lists at the revision that the feed has reached, and completes that with the changes that come meanwhile. */
  async #load(prefix: string, loading: () => Loading): Promise<ResourceCache> {
    // The entry exists only after this call has returned.
    await Promise.resolve()
    const { changes } = loading()
    try {
      for (;;) {
        const revision = this.#revision
        changes.length = 0
        loading().broken = false
        const page = await this.#store.list({ prefix, revision }).catch((error: unknown) => {
          if (error instanceof CompactedError) return undefined
          throw error
        })
        if (page && !loading().broken) {
          const cache = new ResourceCache(prefix, revision)
          cache.reset(page.entries.map(storedObject), revision)
          for (const change of changes) cache.apply(change)
          this.#caches.set(prefix, cache)
          return cache
        }
        // The feed is behind what the store still has, and is about to notice.
        if (!page) await this.changed(this.#stop.signal)
        if (this.#stop.signal.aborted) throw new Error('The server is stopping')
      }
    } finally {
      this.#loading.delete(prefix)
    }
  }

  /** Resolves when the caches have reached the revision, or the signal aborts. */
  async reached(revision: number, signal?: AbortSignal): Promise<void> {
    while (this.#revision < revision && !signal?.aborted && !this.#stop.signal.aborted) await this.changed(signal)
  }

  /** Resolves after the next change, or when the signal aborts. */
  changed(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || this.#stop.signal.aborted) return resolve()
      const done = (): void => {
        signal?.removeEventListener('abort', done)
        this.#waiting.delete(done)
        resolve()
      }
      this.#waiting.add(done)
      signal?.addEventListener('abort', done)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#running
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        for await (const batch of this.#store.watch({ prefix: registryRoot, after: this.#revision, signal })) {
          for (const change of batch.changes) this.#dispatch(change)
          this.#revision = batch.revision
          this.#wake()
        }
      } catch (error) {
        if (signal.aborted) return
        if (error instanceof CompactedError) await this.#relist()
        else {
          this.#log.error(error, 'Cannot follow the store; trying again')
          await this.#clock.sleep(1000, { signal }).catch(() => undefined)
        }
      }
    }
  }

  #dispatch(change: Change): void {
    // /registry/<resource>/… for the core group and /registry/<group>/<resource>/… for the others: at most two candidates.
    const second = change.key.indexOf('/', registryRoot.length)
    if (second < 0) return
    const third = change.key.indexOf('/', second + 1)
    this.#deliver(change.key.slice(0, second + 1), change)
    if (third > 0) this.#deliver(change.key.slice(0, third + 1), change)
  }

  #deliver(prefix: string, change: Change): void {
    const cache = this.#caches.get(prefix)
    if (cache) cache.apply(change)
    else this.#loading.get(prefix)?.changes.push(change)
  }

  /** After history was lost every cache starts over, and its watchers are told to list again. */
  async #relist(): Promise<void> {
    const revision = await this.#store.revision()
    for (const loading of this.#loading.values()) loading.broken = true
    for (const [prefix, cache] of this.#caches) {
      const page = await this.#store.list({ prefix, revision })
      cache.reset(page.entries.map(storedObject), revision)
    }
    this.#revision = revision
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    for (const wake of waiting) wake()
  }
}
