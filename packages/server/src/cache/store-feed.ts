import { type Awaitable, CaughtError, type Clock, type Logger, turnWhenDue } from '@kubewright/base'
import { type Change, CompactedError, type Store } from '@kubewright/storage'
import { type StoredObject, storedObjects } from '../resource/stored-object.ts'
import { BookmarkTicker } from './bookmark-ticker.ts'
import { ResourceCache } from './resource-cache.ts'
import { WindowBudget, type WindowLimits } from './window-budget.ts'

/** The prefix of all keys of objects. */
export const registryRoot = '/registry/'

/** The number of remembered log entries. When there are more, they are forgotten and may repeat. */
const maxReported = 10_000

/** The objects of a large cache that are checked at once: this takes a few milliseconds. */
const checkedPerStep = 250
/** The pause between two steps of the check in the background, in milliseconds. It uses a tenth of a core. */
const checkPause = 50

/** A cache that is being filled. */
interface Loading {
  /** The changes since its list was requested. */
  readonly changes: Change[]
  /** The size of these changes. */
  bytes: number
  /** Whether there is a gap between the list and the changes, because the store has lost history or the changes are too many. */
  hasGap: boolean
  cache?: Promise<ResourceCache> | undefined
}

/**
 * Watches the whole store with one watch and feeds the caches of all resources, so that all readers see changes in the same order.
 * A resource has a cache from the first call of {@link StoreFeed.cache} on; changes of other resources are ignored.
 */
export class StoreFeed implements AsyncDisposable {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  /** Limits the windows of all caches together. */
  readonly windows: WindowBudget
  /** Times the bookmarks of watches of clients in this process. */
  readonly bookmarks: BookmarkTicker
  readonly #caches = new Map<string, ResourceCache>()
  readonly #loading = new Map<string, Loading>()
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  /** The revisions of unreadable objects that were logged, by key. */
  readonly #reported = new Map<string, number>()
  #revision = 0
  #running: Promise<void> | undefined

  constructor(store: Store, clock: Clock, log: Logger, limits?: WindowLimits) {
    this.windows = new WindowBudget(limits)
    this.bookmarks = new BookmarkTicker(clock)
    this.#store = store
    this.#clock = clock
    this.#log = log
  }

  /** The caches contain every change up to this revision. */
  get revision(): number {
    return this.#revision
  }

  /** Starts to follow the store. Must be called once, before any cache is requested. */
  async start(): Promise<void> {
    this.#revision = await this.#store.revision()
    this.#running = this.#follow()
  }

  /** The cache of a resource, filled on first use and shared by all callers. The prefix must end with a slash. */
  cache(prefix: string): Awaitable<ResourceCache> {
    const existing = this.#caches.get(prefix)
    if (existing) return existing
    let loading = this.#loading.get(prefix)
    if (!loading) {
      // Registered before the list starts, so that no change is missed.
      loading = { changes: [], bytes: 0, hasGap: false }
      this.#loading.set(prefix, loading)
      loading.cache = this.#load(prefix, loading)
    }
    return loading.cache!
  }

  /** The cache of a resource, if it is filled. Does not fill it. */
  filledCache(prefix: string): ResourceCache | undefined {
    return this.#caches.get(prefix)
  }

  /** The number of objects in the cache of a resource; 0 if it has none yet. */
  sizeOf(prefix: string): number {
    return this.#caches.get(prefix)?.size ?? 0
  }

  /** Drops the cache of a resource that is no longer served. Holders of the cache see no further changes. */
  forget(prefix: string): void {
    const cache = this.#caches.get(prefix)
    if (cache) this.windows.forget(cache)
    this.#caches.delete(prefix)
  }

  /** Whether an object of the resource can be read. An object that the cache has needs no further check. */
  isReadable(prefix: string, object: StoredObject): boolean {
    return this.#caches.get(prefix)?.get(object.key)?.revision === object.revision || object.problem === undefined
  }

  /** Checks all objects of a cache, and lets other work run in between. */
  async checkAll(cache: ResourceCache): Promise<void> {
    while (!cache.isChecked) {
      cache.check(checkedPerStep)
      await turnWhenDue()
    }
    this.#reportUnreadable(cache)
  }

  /** Checks the objects of a large cache in the background, so that unreadable ones are reported soon after the start. */
  async #checkSlowly(cache: ResourceCache): Promise<void> {
    const { epoch } = cache
    const { signal } = this.#stop
    while (!cache.isChecked && cache.epoch === epoch && !signal.aborted) {
      await this.#clock.sleep(checkPause, { signal }).catch(() => undefined)
      if (!signal.aborted) cache.check(checkedPerStep)
    }
    this.#reportUnreadable(cache)
  }

  /**
   * The stored objects that cannot be read, of all resources that have a cache, in the order of keys. Those of large resources are missing
   * until the check in the background has found them.
   */
  unreadable(): StoredObject[] {
    const all = [...this.#caches.values()].flatMap((cache) => [...cache.unreadable.values()])
    return all.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** The stored objects of a namespace that cannot be read. */
  unreadableIn(namespace: string): StoredObject[] {
    return [...this.#caches.values()].flatMap((cache) => {
      const prefix = `${cache.prefix}${namespace}/`
      // Checks the objects of the namespace.
      if (!cache.isChecked) cache.scan(prefix, () => true)
      return [...cache.unreadable.values()].filter(({ key }) => key.startsWith(prefix))
    })
  }

  /** Logs each version of an unreadable object once. */
  #reportUnreadable({ unreadable }: ResourceCache): void {
    for (const { key, revision, problem } of unreadable.values()) {
      if (this.#reported.get(key) === revision) continue
      if (this.#reported.size >= maxReported) this.#reported.clear()
      this.#reported.set(key, revision)
      this.#log.error(new Error(problem), 'A stored object cannot be read; lists and watches leave it out', {
        key,
        revision,
      })
    }
  }

  /** Fills a cache: lists at the revision of the feed, then applies the changes that have arrived meanwhile. */
  async #load(prefix: string, loading: Loading): Promise<ResourceCache> {
    const { changes } = loading
    try {
      for (;;) {
        const revision = this.#revision
        changes.length = 0
        loading.bytes = 0
        loading.hasGap = false
        const page = await this.#store.list({ prefix, revision }).catch((error: unknown) => {
          if (error instanceof CompactedError) return undefined
          throw error
        })
        if (page && !loading.hasGap) {
          // No await from here on: a change must reach either `changes` or the cache.
          const cache = new ResourceCache(prefix, revision, this.windows)
          cache.reset(storedObjects(page.entries), revision)
          for (const change of changes) cache.apply(change)
          this.#caches.set(prefix, cache)
          this.#reportUnreadable(cache)
          if (!cache.isChecked) void this.#checkSlowly(cache)
          return cache
        }
        // The store has compacted the revision of the feed, which will notice with its next batch.
        if (!page) await this.changed(this.#stop.signal)
        if (this.#stop.signal.aborted)
          throw new CaughtError(`Cannot fill the cache of ${prefix}: the server is stopping`)
      }
    } finally {
      this.#loading.delete(prefix)
    }
  }

  /** Resolves when the caches have reached the revision, when the signal aborts, or when the feed is disposed. */
  async reached(revision: number, signal?: AbortSignal): Promise<void> {
    while (this.#revision < revision && !signal?.aborted && !this.#stop.signal.aborted) await this.changed(signal)
  }

  /** Resolves after the next batch of changes, when the signal aborts, or when the feed is disposed. */
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
          this.windows.enforce()
          for (const change of batch.changes) this.#dispatch(change)
          this.#revision = batch.revision
          this.bookmarks.advanced()
          this.#wake()
        }
      } catch (error) {
        if (signal.aborted) return
        // A relist that fails is repeated: the next watch from the same revision fails with the same error.
        const problem = error instanceof CompactedError ? await this.#relist().then(() => undefined, reasonOf) : error
        if (problem === undefined || signal.aborted) continue
        this.#log.error(problem, 'Watch of the store failed; retrying', { after: '1s' })
        await this.#clock.sleep(1000, { signal }).catch(() => undefined)
      }
    }
  }

  #dispatch(change: Change): void {
    // Prefixes are /registry/<resource>/ or /registry/<group>/<resource>/: at most two can match.
    const second = change.key.indexOf('/', registryRoot.length)
    if (second < 0) return
    const third = change.key.indexOf('/', second + 1)
    this.#deliver(change.key.slice(0, second + 1), change)
    if (third > 0) this.#deliver(change.key.slice(0, third + 1), change)
  }

  #deliver(prefix: string, change: Change): void {
    const cache = this.#caches.get(prefix)
    if (cache) {
      cache.apply(change)
      if (cache.unreadable.has(change.key)) this.#reportUnreadable(cache)
      return
    }
    const loading = this.#loading.get(prefix)
    if (!loading || loading.hasGap) return
    loading.changes.push(change)
    loading.bytes += (change.entry?.value.length ?? 0) + (change.previous?.value.length ?? 0)
    if (loading.bytes <= this.windows.limit) return
    // The list takes too long. The cache starts again with a newer one.
    loading.hasGap = true
    loading.changes.length = 0
  }

  /** Refills every cache after a gap in the history of the store. Watchers receive 410 Gone and list again. */
  async #relist(): Promise<void> {
    const revision = await this.#store.revision()
    for (const loading of this.#loading.values()) loading.hasGap = true
    for (const [prefix, cache] of this.#caches) {
      const page = await this.#store.list({ prefix, revision })
      cache.reset(storedObjects(page.entries), revision)
      this.#reportUnreadable(cache)
      if (!cache.isChecked) void this.#checkSlowly(cache)
    }
    this.#revision = revision
    this.bookmarks.advanced()
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    for (const wake of waiting) wake()
  }
}

const reasonOf = (error: unknown): unknown => error
