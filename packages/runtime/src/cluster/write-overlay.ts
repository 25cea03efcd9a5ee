import { isComparableResourceVersion, type KubeObject, keyOf, type Selector } from '@kubewright/api'
import type { Store } from '../cache/store/store.ts'
import { MergedStore } from './merged-store.ts'
import type { CachedStore } from './object-cache.ts'
import { hasReached } from './version-order.ts'

/** Why only the server can answer for a key. */
export interface Doubt {
  /** Whether the store has come so far that it can be believed again. */
  readonly isSettled: (store: Store<KubeObject>, object: KubeObject | undefined) => boolean
  /** The object that it is about, where that is known: when the server has none, this one is gone. */
  readonly about?: { readonly uid: string; readonly resourceVersion: string }
}

/** As what a key of an overlay reads: the object, nothing, or "ask the server". */
export type Overlaid = KubeObject | 'unsure' | undefined

interface Shown {
  // Undefined: there is no object as of this version.
  readonly object: KubeObject | undefined
  readonly version: string
  // The version of the store's object when this was written, for versions that have no order.
  readonly before: string | undefined
  readonly since: number
}

interface Hidden {
  readonly key: string
  // One that the object had; unknown when neither the store nor this client ever saw it.
  readonly version: string | undefined
  seen: boolean
  readonly since: number
}

interface DatedDoubts {
  readonly doubts: readonly Doubt[]
  readonly serial: number
  readonly since: number
}

/** Objects of one namespace, or of a kind that has none. */
export interface Collection {
  readonly namespace: string
  readonly selector: Selector
}

/** A collection of which everything was deleted. */
export interface Cleared extends Collection {
  /** A version at which it had just the objects that were deleted. */
  readonly version: string
  /** The uids of these objects. */
  readonly listed: ReadonlySet<string>
  readonly since: number
}

/**
 * What a client has written, or knows to have been written, and a store does not have yet. Reads through it never show less than
 * what was written: an object counts until the store has reached its version, and an object that was deleted stays out of sight by
 * its uid, in whatever order answers and watch events arrive. As soon as the store has caught up, the store alone counts.
 */
export class WriteOverlay {
  readonly cached: CachedStore
  readonly #shown = new Map<string, Shown>()
  readonly #hidden = new Map<string, Hidden>()
  readonly #doubts = new Map<string, DatedDoubts>()
  // Until the store has reached it, only the server can say what a collection has.
  #barrier: { readonly version: string; readonly since: number } | undefined
  // Until the store has reached their versions, it may still show what others made and deleted before.
  #cleared: readonly Cleared[] = []
  #serial = 0

  constructor(cached: CachedStore) {
    this.cached = cached
  }

  /** How much the overlay holds. */
  get size(): number {
    const barriers = this.#cleared.length + (this.#barrier === undefined ? 0 : 1)
    return this.#shown.size + this.#hidden.size + this.#doubts.size + barriers
  }

  /** Tells doubts apart by age: those with a higher number came later. */
  get serial(): number {
    return this.#serial
  }

  /** The object of a key, own writes included. */
  get(key: string): Overlaid {
    if (this.#isBehindBarrier() || this.#isDoubted(key)) return 'unsure'
    const object = this.visible(key)
    return object !== undefined && this.#isCleared(object) ? 'unsure' : object
  }

  /** As {@link get}, whatever the doubts. */
  visible(key: string): KubeObject | undefined {
    const shown = this.#current(key)
    const object = shown === undefined ? this.cached.store.get(key) : shown.object
    return object === undefined || this.#hidden.has(object.metadata.uid) ? undefined : object
  }

  /** Whether some key of a namespace, or of all, has to be asked of the server. */
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

  /** The objects of a collection, own writes included, whatever the doubts. In no certain order. */
  visibleIn(collection: Collection): KubeObject[] {
    const { namespace, selector } = collection
    const isMeant = ({ metadata }: KubeObject): boolean =>
      (metadata.namespace ?? '') === namespace && selector.matches(metadata.labels)
    return this.overlaid(storedIn(this.cached.store, collection), isMeant)
  }

  /** Brings a list of the store up to date with the own writes; `matches` says which objects are meant. In no certain order. */
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

  /** Shows an object that the server has answered with, unless something newer is known. */
  show(object: KubeObject, now: number): void {
    const { uid, resourceVersion } = object.metadata
    if (this.#hidden.has(uid)) return
    const key = keyOf(object)
    this.#drop(key, untilAsked)
    this.#set(key, object, resourceVersion, now)
  }

  /** Hides an object that is gone for good; `version` is one that it had, where that is known. */
  hide(key: string, uid: string, version: string | undefined, now: number): void {
    this.#drop(key, untilAsked)
    if (this.#shown.get(key)?.object?.metadata.uid === uid) this.#shown.delete(key)
    // What came before it under the same key must not come back either.
    if (version !== undefined) this.#set(key, undefined, version, now)
    this.#hidden.set(uid, { key, version, seen: false, since: now })
    this.#isStillHidden(uid)
  }

  /** Has the next reads of a key ask the server. */
  doubt(key: string, doubt: Doubt, now: number): void {
    const { doubts: others = [] } = this.#doubts.get(key) ?? {}
    this.#doubts.set(key, { doubts: [...others, doubt], serial: ++this.#serial, since: now })
    this.#isDoubted(key)
  }

  /** Has all reads ask the server until the store has reached a version. */
  doubtAll(version: string, now: number): void {
    this.#serial++
    this.#barrier = { version, since: now }
  }

  /**
   * Has reads ask the server for objects of a collection that was cleared, if the store shows one that was not among those deleted and
   * is no newer: it went, or left the collection, before.
   */
  clear(cleared: Cleared): void {
    if (isComparableResourceVersion(cleared.version)) this.#cleared = [...this.#cleared, cleared]
    this.#dropCleared()
  }

  /**
   * Takes back and returns the doubts about a key because the server has answered; not if one came after the question, which had
   * this serial.
   */
  settle(key: string, serial: number): readonly Doubt[] {
    const dated = this.#doubts.get(key)
    if (dated === undefined || dated.serial > serial) return []
    this.#doubts.delete(key)
    return dated.doubts
  }

  /** Drops what the store has caught up with, and what is older than a time. Returns how many own writes were given up by that. */
  sweep(before: number): number {
    let expired = 0
    for (const [key, { since }] of [...this.#shown]) {
      if (this.#current(key) !== undefined && since <= before && this.#shown.delete(key)) expired++
    }
    // That the store has never seen them costs nothing but memory, and is nothing to talk about.
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

  /** What is shown at a key while the store has not reached it. */
  #current(key: string): Shown | undefined {
    const shown = this.#shown.get(key)
    if (shown === undefined || !this.#hasCaughtUp(key, shown)) return shown
    this.#shown.delete(key)
    return undefined
  }

  #hasCaughtUp(key: string, { version, before }: Shown): boolean {
    const { store } = this.cached
    const has = store.get(key)?.metadata.resourceVersion
    if (hasReached(this.#versionAt(key), version) || (has !== undefined && hasReached(has, version))) return true
    // Without an order, any news of the object has to do.
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

  /** Whether an object had to go, or to change, before a collection that it is in was cleared. */
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

  /** Whether the store may still show the object of a uid, now or later. */
  #isStillHidden(uid: string): boolean {
    const hidden = this.#hidden.get(uid)
    if (hidden === undefined) return false
    const { key, version } = hidden
    if (this.cached.store.get(key)?.metadata.uid === uid) {
      hidden.seen = true
      return true
    }
    // It was there, and is not any more: a store does not go back.
    const gone = hidden.seen || (version !== undefined && hasReached(this.#versionAt(key), version))
    if (gone) this.#hidden.delete(uid)
    return !gone
  }

  #versionAt(key: string): string {
    return this.#storeOf(key).resourceVersion
  }

  // The namespaces of a merged store advance each for itself.
  #storeOf(key: string): Store<KubeObject> {
    const { store } = this.cached
    return (store instanceof MergedStore ? store.of(key) : undefined) ?? store
  }
}

/** What a store has of a collection. */
export const storedIn = (store: Store<KubeObject>, { namespace, selector }: Collection): KubeObject[] =>
  store.list(namespace === '' ? { selector } : { namespace, selector })

/** The doubt that only an answer of the server ends. */
export const untilAsked: Doubt = { isSettled: () => false }

/** A doubt that ends when the store has reached a version of the object. */
export function untilVersion(version: string): Doubt {
  return {
    isSettled: (store, object) =>
      hasReached(store.resourceVersion, version) || hasReached(object?.metadata.resourceVersion ?? '', version),
  }
}

/** A doubt that ends when the store has seen an object change after a version, or go. */
export function untilChanged({ uid, resourceVersion: version }: KubeObject['metadata']): Doubt {
  return {
    about: { uid, resourceVersion: version },
    isSettled: (store, object) => {
      if (object?.metadata.uid !== uid) return hasReached(store.resourceVersion, version)
      return object.metadata.resourceVersion !== version && hasReached(object.metadata.resourceVersion, version)
    },
  }
}
