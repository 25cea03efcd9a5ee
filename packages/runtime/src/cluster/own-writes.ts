import { formatKey, type GroupKind, gvkOf, type KubeObject, type Selector } from '@kubewright/api'
import { type Clock, type Duration, deepFreeze, type Logger, type Timer, toMillis } from '@kubewright/base'
import type { CollectionDeletion, Deletion } from '@kubewright/client'
import type { Store } from '../cache/store/store.ts'
import type { CachedClientMetrics } from './cached-client-metrics.ts'
import type { CacheContents, CachedStore } from './object-cache.ts'
import { hasReached } from './version-order.ts'
import { storedIn, untilAsked, untilChanged, untilVersion, WriteOverlay } from './write-overlay.ts'

/** What {@link OwnWrites} needs. */
export interface OwnWritesOptions {
  readonly cache: CacheContents
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: CachedClientMetrics
  readonly deadline: Duration
}

/** An object that is written or read, whether or not it exists. */
export interface WriteTarget {
  readonly type: GroupKind
  readonly name: string
  readonly namespace: string
}

// How often what the caches have caught up with is dropped, besides on reads.
const sweepInterval = 10_000

/** Keeps what one client has written until each cached store of the resource has it: one overlay for each such store. */
export class OwnWrites implements Disposable {
  readonly #options: OwnWritesOptions
  readonly #deadline: number
  readonly #overlays = new Map<Store<KubeObject>, WriteOverlay>()
  // Sweeping early when much is written keeps the overlays as small as what the stores really lack.
  #sweepAt = 1000
  #timer: Timer | undefined

  constructor(options: OwnWritesOptions) {
    this.#options = options
    this.#deadline = toMillis(options.deadline)
  }

  /** How much all overlays hold. */
  get size(): number {
    let size = 0
    for (const overlay of this.#overlays.values()) size += overlay.size
    return size
  }

  /** What is known beyond a store; undefined when that is nothing. */
  of(cached: CachedStore): WriteOverlay | undefined {
    return this.#overlays.get(cached.store)
  }

  /** Notes the object that the server has answered a write with. */
  wrote(object: KubeObject, isMetadataOnly = false): void {
    // Reviews and their like are answered, not kept.
    if (!object.metadata?.resourceVersion) return
    const type = gvkOf(object)
    const { name, namespace = '', uid, resourceVersion } = object.metadata
    this.#each({ type, name, namespace }, (overlay, key, now) => {
      const { cached } = overlay
      const gone = isGone(object)
      if (gone) overlay.hide(key, uid, resourceVersion, now)
      else if (cached.isMetadataOnly && cached.kind.version === type.version) {
        const { apiVersion, kind, metadata } = object
        overlay.show(shaped(cached, { apiVersion, kind, metadata }), now)
      } else if (!cached.isMetadataOnly && !isMetadataOnly && cached.kind.version === type.version) {
        overlay.show(shaped(cached, object), now)
      } else overlay.doubt(key, untilVersion(resourceVersion), now)
    })
  }

  /** Notes that an object was changed in a way that the answer does not show; `version` is the one that it has now, if known. */
  touched(target: WriteTarget, version?: string): void {
    const doubt = version === undefined ? untilAsked : untilVersion(version)
    this.#each(target, (overlay, key, now) => overlay.doubt(key, doubt, now))
  }

  /** Begins a deletion; the returned function is to be told how it ended. */
  deleting(target: WriteTarget): (answer: Deletion<KubeObject>) => void {
    const before = new Map<CachedStore, KubeObject | undefined>()
    for (const cached of this.#options.cache.contents(target.type)) {
      before.set(cached, this.#visible(cached, keyIn(cached, target)))
    }
    return ({ object, uid = object?.metadata.uid }) => {
      if (object !== undefined && isKept(object)) {
        this.wrote(object)
        return
      }
      this.#each(target, (overlay, key, now) => {
        const seen = before.get(overlay.cached)
        const deleted = uid ?? seen?.metadata.uid
        if (deleted === undefined) {
          overlay.doubt(key, untilAsked, now)
          return
        }
        // What was visible before and is another object had to go before the one that was deleted could come.
        if (seen !== undefined) overlay.hide(key, seen.metadata.uid, seen.metadata.resourceVersion, now)
        if (seen?.metadata.uid !== deleted) overlay.hide(key, deleted, object?.metadata.resourceVersion, now)
      })
    }
  }

  /** Begins a deletion of many objects; the returned function is to be told how it ended. */
  deletingAll(
    type: GroupKind,
    namespace: string,
    selector: Selector,
  ): (deletion: CollectionDeletion<KubeObject>) => void {
    const collection = { namespace, selector }
    const visible = this.#options.cache
      .contents(type)
      .flatMap((cached) => this.of(cached)?.visibleIn(collection) ?? storedIn(cached.store, collection))
    return ({ objects, resourceVersion }) => {
      // What was visible and not found by the server has changed or is gone as well.
      for (const { metadata } of [...objects, ...visible]) {
        const { name } = metadata
        const doubt = untilChanged(metadata)
        this.#each({ type, name, namespace }, (overlay, key, now) => overlay.doubt(key, doubt, now))
      }
      const listed = new Set(objects.map(({ metadata }) => metadata.uid))
      for (const cached of this.#options.cache.contents(type)) {
        this.#overlay(cached).clear({
          ...collection,
          version: resourceVersion,
          listed,
          since: this.#options.clock.monotonic(),
        })
      }
      this.#changed()
    }
  }

  /** Has all reads of a kind ask the server until the cache has reached a version. */
  changedAll(type: GroupKind, version: string): void {
    for (const cached of this.#options.cache.contents(type)) {
      this.#overlay(cached).doubtAll(version, this.#options.clock.monotonic())
    }
    this.#changed()
  }

  /** Begins a read of one object from the server; the returned function is to be told its answer. */
  asking(cached: CachedStore, key: string): (answer: KubeObject | undefined) => void {
    const serial = this.of(cached)?.serial ?? 0
    const before = this.#visible(cached, key)
    return (answer) => {
      const now = this.#options.clock.monotonic()
      const doubts = this.of(cached)?.settle(key, serial) ?? []
      if (answer !== undefined) this.#learn(cached, answer, now)
      else {
        for (const { uid, resourceVersion } of [before?.metadata, ...doubts.map(({ about }) => about)].filter(
          isGiven,
        )) {
          this.#overlay(cached).hide(key, uid, resourceVersion, now)
        }
      }
      this.#changed()
    }
  }

  /** Begins a list from the server; the returned function is to be told the objects. */
  askingAll(cached: CachedStore): (answer: readonly KubeObject[]) => void {
    const serial = this.of(cached)?.serial ?? 0
    return (answer) => {
      // Before the first list of the store everything would be news.
      if (cached.store.resourceVersion === '') return
      const now = this.#options.clock.monotonic()
      for (const object of answer) {
        const { name, namespace = '' } = object.metadata
        this.of(cached)?.settle(formatKey(name, namespace), serial)
        this.#learn(cached, object, now)
      }
      this.#changed()
    }
  }

  /** Drops what the caches have caught up with, and what they have not had for too long. */
  sweep(): void {
    const { cache, clock, log, metrics } = this.#options
    for (const [store, overlay] of this.#overlays) {
      const { kind } = overlay.cached
      const expired = overlay.sweep(clock.monotonic() - this.#deadline)
      if (expired > 0) {
        metrics.expired(kind, expired)
        log.warn('Gave up own writes that the cache has not seen in time: reads may show older objects', {
          group: kind.group,
          kind: kind.kind,
          writes: expired,
          cure: 'Look at the health of the watch',
        })
      }
      const isInUse = cache.contents(kind).some((cached) => cached.store === store)
      if (overlay.size === 0 || !isInUse) this.#overlays.delete(store)
    }
    this.#sweepAt = Math.max(1000, 2 * this.size)
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
    this.#overlays.clear()
  }

  /** Shows an object that was read, if the store does not have it yet: later reads must not go back. */
  #learn(cached: CachedStore, object: KubeObject, now: number): void {
    const { name, namespace = '', resourceVersion } = object.metadata
    const known = cached.store.get(formatKey(name, namespace))?.metadata.resourceVersion ?? ''
    if (!hasReached(known, resourceVersion)) this.#overlay(cached).show(shaped(cached, object), now)
  }

  #visible(cached: CachedStore, key: string): KubeObject | undefined {
    const overlay = this.of(cached)
    return overlay === undefined ? cached.store.get(key) : overlay.visible(key)
  }

  #each(target: WriteTarget, note: (overlay: WriteOverlay, key: string, now: number) => void): void {
    for (const cached of this.#options.cache.contents(target.type)) {
      const { namespaces } = cached
      if (namespaces.length > 0 && !namespaces.includes(target.namespace)) continue
      note(this.#overlay(cached), keyIn(cached, target), this.#options.clock.monotonic())
    }
    this.#changed()
  }

  #overlay(cached: CachedStore): WriteOverlay {
    let overlay = this.#overlays.get(cached.store)
    if (overlay === undefined) {
      overlay = new WriteOverlay(cached)
      this.#overlays.set(cached.store, overlay)
    }
    return overlay
  }

  #changed(): void {
    const { clock, metrics } = this.#options
    if (this.size > this.#sweepAt) this.sweep()
    metrics.overlaySize(this.size)
    if (this.#timer !== undefined || this.#overlays.size === 0) return
    const onTime = (): void => {
      this.#timer = undefined
      this.sweep()
      this.#changed()
    }
    this.#timer = clock.setTimer(sweepInterval, onTime, 'sweep of own writes')
  }
}

const isGiven = <T>(value: T | undefined): value is T => value !== undefined

const keyIn = ({ kind }: CachedStore, { name, namespace }: WriteTarget): string =>
  formatKey(name, kind.scope === 'Cluster' ? '' : namespace)

const shaped = (cached: CachedStore, object: KubeObject): KubeObject => deepFreeze(cached.shape(object)) as KubeObject

/** Whether an object that was answered to a deletion is still there: something has to happen before it goes. */
function isKept(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined) return false
  // Those of namespaces, which have a list of their own.
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] } }
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || (spec?.finalizers?.length ?? 0) > 0
}

/** Whether a write was the last one: it took the last finalizer off an object that was to be deleted. */
const isGone = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined && !isKept(object)
