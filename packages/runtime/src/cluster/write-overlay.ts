import { isComparableResourceVersion, type KubeObject, keyOf, type Selector } from '@kubewright/api'
import type { Store } from '../cache/store/store.ts'
import { hasReached } from '../cache/store/version-order.ts'
import { MergedStore } from './merged-store.ts'
import type { CachedStore } from './object-cache.ts'

/** A reason why only the server can return the object of a key. */
export interface Doubt {
  /** Whether the store has caught up, so that it can be read again. */
  readonly isSettled: (store: Store<KubeObject>, object: KubeObject | undefined) => boolean
  /** The object in question, if known: when the server does not find the key, this object is gone. */
  readonly about?: { readonly uid: string; readonly resourceVersion: string } | undefined
}

/** The value of a key: the object, undefined for none, or `unsure`, which means that the server must be asked. */
export type Overlaid = KubeObject | 'unsure' | undefined

interface Shown {
  // Undefined means that the key has no object as of this version.
  readonly object: KubeObject | undefined
  readonly version: string
  // The version of the stored object at the time of the write, for versions that cannot be compared.
  readonly before: string | undefined
  readonly since: number
}

interface Hidden {
  readonly key: string
  // A version that the object had; undefined when neither the store nor this client has seen it.
  readonly version: string | undefined
  seen: boolean
  readonly since: number
}

interface DatedDoubts {
  readonly doubts: readonly Doubt[]
  readonly serial: number
  readonly since: number
}

/** The objects of one namespace, or of a cluster-scoped kind. */
export interface Collection {
  readonly namespace: string
  readonly selector: Selector
}

/** A collection that was deleted. */
export interface Cleared extends Collection {
  /** A version at which the collection contained exactly the deleted objects. */
  readonly version: string
  /** The uids of the deleted objects. */
  readonly listed: ReadonlySet<string>
  readonly since: number
}

/**
 * The difference between a store and the writes of a client that the store has not received yet.
 *
 * Reads through the overlay never return less than what was written: a written object is returned until the store has
 * reached its version, and a deleted object stays hidden by its uid, in any order of responses and watch events. Once
 * the store has caught up, only the store counts.
 */
export class WriteOverlay {
  readonly cached: CachedStore
  readonly #shown = new Map<string, Shown>()
  readonly #hidden = new Map<string, Hidden>()
  readonly #doubts = new Map<string, DatedDoubts>()
  // Until the store has reached this version, all reads go to the server.
  #barrier: { readonly version: string; readonly since: number } | undefined
  // Until the store has reached their versions, it may still contain objects that others created and deleted before.
  #cleared: readonly Cleared[] = []
  #serial = 0

  constructor(cached: CachedStore) {
    this.cached = cached
  }

  /** The number of entries. */
  get size(): number {
    const barriers = this.#cleared.length + (this.#barrier === undefined ? 0 : 1)
    return this.#shown.size + this.#hidden.size + this.#doubts.size + barriers
  }

  /** Increases with each doubt, so that later doubts can be distinguished from earlier ones. */
  get serial(): number {
    return this.#serial
  }

  /** The object of a key, including own writes. */
  get(key: string): Overlaid {
    if (this.#isBehindBarrier() || this.#isDoubted(key)) return 'unsure'
    const object = this.visible(key)
    return object !== undefined && this.#isCleared(object) ? 'unsure' : object
  }

  /** Like {@link get}, but ignores doubts. */
  visible(key: string): KubeObject | undefined {
    const shown = this.#current(key)
    const object = shown === undefined ? this.cached.store.get(key) : shown.object
    return object === undefined || this.#hidden.has(object.metadata.uid) ? undefined : object
  }

  /** Whether a key of a namespace, or any key with `''`, must be read from the server. */
  isUnsure(namespace: string): boolean {
    if (this.#isBehindBarrier()) return true
    const prefix = namespace === '' ? '' : `${namespace}/`
    for (const key of this.#doubts.keys()) if (key.startsWith(prefix) && this.#isDoubted(key)) return true
    this.#dropCleared()
    return this.#cleared.some(
      (cleared) =>
        (namespace === '' || cleared.namespace === namespace) &&
        this.visibleIn(cleared).some((object) => this.#isCleared(object)),
    )
  }

  /** The objects of a collection, including own writes, ignoring doubts. Unordered. */
  visibleIn(collection: Collection): KubeObject[] {
    const { namespace, selector } = collection
    const isMeant = ({ metadata }: KubeObject): boolean =>
      (metadata.namespace ?? '') === namespace && selector.matches(metadata.labels)
    return this.overlaid(storedIn(this.cached.store, collection), isMeant)
  }

  /** Merges own writes into a list of the store. `matches` selects the objects of the list. Unordered. */
  overlaid(objects: KubeObject[], matches: (object: KubeObject) => boolean): KubeObject[] {
    if (this.#shown.size === 0 && this.#hidden.size === 0) return objects
    const added: KubeObject[] = []
    for (const key of [...this.#shown.keys()]) {
      const object = this.#current(key)?.object
      if (object !== undefined && !this.#hidden.has(object.metadata.uid) && matches(object)) added.push(object)
    }
    const kept = objects.filter((object) => !this.#shown.has(keyOf(object)) && !this.#hidden.has(object.metadata.uid))
    return [...kept, ...added]
  }

  /** Adds an object that the server returned, unless a newer state is known. */
  show(object: KubeObject, now: number): void {
    const { uid, resourceVersion } = object.metadata
    if (this.#hidden.has(uid)) return
    const key = keyOf(object)
    this.#drop(key, untilRead)
    this.#set(key, object, resourceVersion, now)
  }

  /** Records that an object does not belong to the store's selection as of this version. */
  leave(key: string, version: string, now: number): void {
    this.#drop(key, untilRead)
    this.#set(key, undefined, version, now)
  }

  /** Hides an object that was deleted. `version` is a version that it had, if known. */
  hide(key: string, uid: string, version: string | undefined, now: number): void {
    this.#drop(key, untilRead)
    if (this.#shown.get(key)?.object?.metadata.uid === uid) this.#shown.delete(key)
    // Earlier objects with the same key must not reappear either.
    if (version !== undefined) this.#set(key, undefined, version, now)
    this.#hidden.set(uid, { key, version, seen: false, since: now })
    this.#isStillHidden(uid)
  }

  /** Sends reads of a key to the server until the doubt is settled. */
  doubt(key: string, doubt: Doubt, now: number): void {
    const { doubts: others = [] } = this.#doubts.get(key) ?? {}
    this.#doubts.set(key, { doubts: [...others, doubt], serial: ++this.#serial, since: now })
    this.#isDoubted(key)
  }

  /** Sends all reads to the server until the store has reached a version. */
  doubtAll(version: string, now: number): void {
    this.#serial++
    this.#barrier = { version, since: now }
  }

  /**
   * Records that a collection was deleted. Reads go to the server while the store contains an object of the collection
   * that was not among the deleted ones and is not newer: it was deleted, or left the collection, earlier.
   */
  clear(cleared: Cleared): void {
    if (isComparableResourceVersion(cleared.version)) this.#cleared = [...this.#cleared, cleared]
    this.#dropCleared()
  }

  /**
   * Removes and returns the doubts about a key after the server has responded. Does nothing when a doubt is newer than
   * `serial`, the serial at the time of the request.
   */
  settle(key: string, serial: number): readonly Doubt[] {
    const dated = this.#doubts.get(key)
    if (dated === undefined || dated.serial > serial) return []
    this.#doubts.delete(key)
    return dated.doubts
  }

  /**
   * Drops entries that the store has received, and entries older than `before`. Returns how many own writes expired.
   */
  sweep(before: number): number {
    let expired = 0
    for (const [key, { since }] of [...this.#shown]) {
      if (this.#current(key) !== undefined && since <= before && this.#shown.delete(key)) expired++
    }
    // A hidden object without a known version only costs memory, so it is not counted as expired.
    for (const [uid, { since, version }] of [...this.#hidden]) {
      if (this.#isStillHidden(uid) && since <= before && this.#hidden.delete(uid) && version !== undefined) expired++
    }
    for (const [key, { since }] of [...this.#doubts])
      if (this.#isDoubted(key) && since <= before) this.#doubts.delete(key)
    if (this.#isBehindBarrier() && (this.#barrier?.since ?? 0) <= before) this.#barrier = undefined
    this.#dropCleared(before)
    return expired
  }

  #set(key: string, object: KubeObject | undefined, version: string, since: number): void {
    const known = this.#current(key)
    if (known !== undefined && hasReached(known.version, version)) return
    this.#shown.set(key, { object, version, before: this.cached.store.get(key)?.metadata.resourceVersion, since })
    this.#current(key)
  }

  /** The entry of a key; undefined once the store has caught up. */
  #current(key: string): Shown | undefined {
    const shown = this.#shown.get(key)
    if (shown === undefined || !this.#hasCaughtUp(key, shown)) return shown
    this.#shown.delete(key)
    return undefined
  }

  #hasCaughtUp(key: string, { version, before }: Shown): boolean {
    // The version of the store first: reading the object may decode it.
    if (hasReached(this.#versionAt(key), version)) return true
    const has = this.cached.store.get(key)?.metadata.resourceVersion
    if (has !== undefined && hasReached(has, version)) return true
    // Versions without an order: any change of the stored object counts.
    return !isComparableResourceVersion(version) && has !== before
  }

  #isDoubted(key: string): boolean {
    const dated = this.#doubts.get(key)
    if (dated === undefined) return false
    const store = this.#storeOf(key)
    const object = store.get(key)
    for (const doubt of dated.doubts) if (doubt.isSettled(store, object)) this.#drop(key, doubt)
    return this.#doubts.has(key)
  }

  #drop(key: string, settled: Doubt): void {
    const dated = this.#doubts.get(key)
    if (dated === undefined) return
    const doubts = dated.doubts.filter((doubt) => doubt !== settled)
    if (doubts.length === 0) this.#doubts.delete(key)
    else this.#doubts.set(key, { ...dated, doubts })
  }

  #isBehindBarrier(): boolean {
    if (this.#barrier === undefined) return false
    if (!hasReached(this.cached.store.resourceVersion, this.#barrier.version)) return true
    this.#barrier = undefined
    return false
  }

  /** Whether an object must have been deleted or changed before its collection was deleted. */
  #isCleared({ metadata }: KubeObject): boolean {
    this.#dropCleared()
    const { namespace = '', uid, labels, resourceVersion } = metadata
    return this.#cleared.some(
      (cleared) =>
        cleared.namespace === namespace &&
        !cleared.listed.has(uid) &&
        hasReached(cleared.version, resourceVersion) &&
        cleared.selector.matches(labels),
    )
  }

  #dropCleared(before = -Infinity): void {
    if (this.#cleared.length === 0) return
    this.#cleared = this.#cleared.filter(
      ({ namespace, version, since }) => since > before && !hasReached(this.#versionAt(`${namespace}/`), version),
    )
  }

  /** Whether the store may still contain the object with a uid, now or later. */
  #isStillHidden(uid: string): boolean {
    const hidden = this.#hidden.get(uid)
    if (hidden === undefined) return false
    const { key, version } = hidden
    if (this.cached.store.get(key)?.metadata.uid === uid) {
      hidden.seen = true
      return true
    }
    // The store has dropped the object; a store never goes back.
    const gone = hidden.seen || (version !== undefined && hasReached(this.#versionAt(key), version))
    if (gone) this.#hidden.delete(uid)
    return !gone
  }

  #versionAt(key: string): string {
    return this.#storeOf(key).resourceVersion
  }

  // The namespaces of a merged store advance independently.
  #storeOf(key: string): Store<KubeObject> {
    const { store } = this.cached
    return (store instanceof MergedStore ? store.of(key) : undefined) ?? store
  }
}

/** The objects of a collection in a store. */
export const storedIn = (store: Store<KubeObject>, { namespace, selector }: Collection): KubeObject[] =>
  store.list(namespace === '' ? { selector } : { namespace, selector })

/** A doubt that only a response of the server settles. */
export const untilRead: Doubt = { isSettled: () => false }

/** A doubt that is settled when the store has reached a version of the object. */
export function untilVersion(version: string): Doubt {
  return {
    isSettled: (store, object) =>
      hasReached(store.resourceVersion, version) || hasReached(object?.metadata.resourceVersion ?? '', version),
  }
}

/** A doubt that is settled when the store has received a change of an object after a version, or its deletion. */
export function untilChanged({ uid, resourceVersion: version }: KubeObject['metadata']): Doubt {
  return {
    about: { uid, resourceVersion: version },
    isSettled: (store, object) => {
      if (object?.metadata.uid !== uid) return hasReached(store.resourceVersion, version)
      return object.metadata.resourceVersion !== version && hasReached(object.metadata.resourceVersion, version)
    },
  }
}
