import { formatKey, type GroupKind, gvkOf, type KubeObject, type Selector } from '@kubewright/api'
import { type Clock, type Duration, deepFreeze, type Logger, type Timer, toMillis } from '@kubewright/base'
import type { CollectionDeletion, Deletion } from '@kubewright/client'
import type { Store } from '../cache/store/store.ts'
import { hasReached } from '../cache/store/version-order.ts'
import type { CachedClientMetrics } from './cached-client-metrics.ts'
import type { CacheContents, CachedStore } from './object-cache.ts'
import { isSelected } from './selection.ts'
import { storedIn, untilChanged, untilRead, untilVersion, WriteOverlay } from './write-overlay.ts'

/** Options of {@link OwnWrites}. */
export interface OwnWritesOptions {
  readonly cache: CacheContents
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: CachedClientMetrics
  readonly deadline: Duration
}

/** The identity of an object that is written or read; it need not exist. */
export interface WriteTarget {
  readonly type: GroupKind
  readonly name: string
  readonly namespace: string
}

// How often overlay entries that the caches have received are dropped, in addition to reads.
const sweepInterval = 10_000

/** Keeps the writes of one client until each cached store of the resource has received them: one overlay per store. */
export class OwnWrites implements Disposable {
  readonly #options: OwnWritesOptions
  readonly #deadline: number
  readonly #overlays = new Map<Store<KubeObject>, WriteOverlay>()
  // Sweeps early under many writes, so that the overlays stay as small as what the stores lack.
  #sweepAt = 1000
  #timer: Timer | undefined

  constructor(options: OwnWritesOptions) {
    this.#options = options
    this.#deadline = toMillis(options.deadline)
  }

  /** The number of entries in all overlays. */
  get size(): number {
    let size = 0
    for (const overlay of this.#overlays.values()) size += overlay.size
    return size
  }

  /** The overlay of a store; undefined when it has none. */
  of(cached: CachedStore): WriteOverlay | undefined {
    return this.#overlays.get(cached.store)
  }

  /** Records the object that the server returned for a write. */
  wrote(object: KubeObject, isMetadataOnly = false): void {
    // Reviews and similar virtual resources are not stored.
    if (!object.metadata?.resourceVersion) return
    const type = gvkOf(object)
    const { name, namespace = '', uid, resourceVersion } = object.metadata
    this.#each({ type, name, namespace }, (overlay, key, now) => {
      const { cached } = overlay
      const gone = isGone(object)
      if (gone) overlay.hide(key, uid, resourceVersion, now)
      else if (isOutside(cached, object, isMetadataOnly)) overlay.leave(key, resourceVersion, now)
      else if (cached.isMetadataOnly && cached.kind.version === type.version) {
        const { apiVersion, kind, metadata } = object
        showWritten(overlay, shaped(cached, { apiVersion, kind, metadata }), now)
      } else if (!cached.isMetadataOnly && !isMetadataOnly && cached.kind.version === type.version) {
        showWritten(overlay, shaped(cached, object), now)
      } else overlay.doubt(key, untilVersion(resourceVersion), now)
    })
  }

  /** Records a change of an object that the response does not contain. `version` is its new version, if known. */
  touched(target: WriteTarget, version?: string): void {
    const doubt = version === undefined ? untilRead : untilVersion(version)
    this.#each(target, (overlay, key, now) => overlay.doubt(key, doubt, now))
  }

  /** Records the start of a deletion. The caller passes the result to the returned function. */
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
          overlay.doubt(key, untilRead, now)
          return
        }
        // If another object was visible before, it must have been deleted before the deleted one was created.
        if (seen !== undefined) overlay.hide(key, seen.metadata.uid, seen.metadata.resourceVersion, now)
        if (seen?.metadata.uid !== deleted) overlay.hide(key, deleted, object?.metadata.resourceVersion, now)
      })
    }
  }

  /** Records the start of a collection deletion. The caller passes the result to the returned function. */
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
      // Objects that were visible and not found by the server have changed or are gone as well.
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

  /** Sends all reads of a kind to the server until the cache has reached a version. */
  changedAll(type: GroupKind, version: string): void {
    for (const cached of this.#options.cache.contents(type)) {
      this.#overlay(cached).doubtAll(version, this.#options.clock.monotonic())
    }
    this.#changed()
  }

  /** Records the start of a live read of one object. The caller passes the response to the returned function. */
  reading(cached: CachedStore, key: string): (answer: KubeObject | undefined) => void {
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

  /** Records the start of a live list. The caller passes the objects to the returned function. */
  listing(cached: CachedStore): (answer: readonly KubeObject[]) => void {
    const serial = this.of(cached)?.serial ?? 0
    return (answer) => {
      // Before the store has its first list, every object would become an entry.
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

  /** Drops entries that the caches have received, and entries that have reached the deadline. */
  sweep(): void {
    const { cache, clock, log, metrics } = this.#options
    for (const [store, overlay] of this.#overlays) {
      const { kind } = overlay.cached
      const expired = overlay.sweep(clock.monotonic() - this.#deadline)
      if (expired > 0) {
        metrics.expired(kind, expired)
        log.warn('Own writes expired before the cache received them; reads may return older objects', {
          group: kind.group,
          kind: kind.kind,
          writes: expired,
          fix: 'Check the health of the watch',
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

  /**
   * Adds an object that was read live if the store does not have it yet: later reads must not return an older state.
   */
  #learn(cached: CachedStore, object: KubeObject, now: number): void {
    const { name, namespace = '', resourceVersion } = object.metadata
    const known = cached.store.get(formatKey(name, namespace))?.metadata.resourceVersion ?? ''
    if (hasReached(known, resourceVersion)) return
    const overlay = this.#overlay(cached)
    if (isSelected(cached.selection, object)) overlay.show(shaped(cached, object), now)
    // Objects that the store never had need no entry.
    else if (known !== '') overlay.leave(formatKey(name, namespace), resourceVersion, now)
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

function showWritten(overlay: WriteOverlay, object: KubeObject, now: number): void {
  overlay.show(object, now)
  overlay.cached.announce(object)
}

/** Whether a written object certainly does not belong to the selection of a store. */
function isOutside({ kind, selection }: CachedStore, object: KubeObject, isMetadataOnly: boolean): boolean {
  if (isSelected(selection, object)) return false
  // Metadata, or another version, does not show whether the fields match.
  const hasFields = !isMetadataOnly && gvkOf(object).version === kind.version
  return hasFields || selection?.selector.matches(object.metadata.labels) === false
}

const isGiven = <T>(value: T | undefined): value is T => value !== undefined

const keyIn = ({ kind }: CachedStore, { name, namespace }: WriteTarget): string =>
  formatKey(name, kind.scope === 'Cluster' ? '' : namespace)

const shaped = (cached: CachedStore, object: KubeObject): KubeObject => deepFreeze(cached.shape(object)) as KubeObject

/** Whether an object in the response to a deletion still exists: a finalizer or the grace period delays its removal. */
function isKept(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined) return false
  // Namespaces have finalizers in their spec too.
  const { spec } = object as { readonly spec?: { readonly finalizers?: readonly string[] | undefined } | undefined }
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || (spec?.finalizers?.length ?? 0) > 0
}

/** Whether a write removed the object: it removed the last finalizer of an object that was being deleted. */
const isGone = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined && !isKept(object)
