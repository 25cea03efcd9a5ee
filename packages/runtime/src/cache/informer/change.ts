import type { KubeObject } from '@kubewright/api'
import { deepFreeze } from '@kubewright/base'
import type { EncodedObject } from '@kubewright/client'
import type { Delta } from '../reflector/delta-fifo.ts'
import type { HotObjects } from '../store/hot-objects.ts'
import type { Indexer } from '../store/indexer.ts'
import { type Item, isEncoded, keyOfItem, versionOfItem } from '../store/item.ts'

/** The last state of a deleted object. */
export interface DeletedObject<T> {
  /** The final state or, if it is unknown, the last one that was seen. */
  readonly object: T
  /** True when the watch missed the deletion and a later list revealed it: client-go's DeletedFinalStateUnknown. */
  readonly finalStateUnknown: boolean
}

interface ChangeParts<T> {
  readonly key: string
  readonly before: Item<T> | undefined
  readonly after: Item<T> | undefined
  /** The new object as the store holds it. @default after */
  readonly stored?: Item<T> | undefined
  readonly last?: Item<T> | undefined
  readonly lastUnknown?: boolean | undefined
  readonly sync: boolean
  readonly initial: boolean
}

/**
 * A change of one key from `before` to `after`; undefined means that there was no object. Consecutive changes of a key
 * can be joined, which bounds the queues of slow handlers. Objects are decoded when they are read.
 */
export class Change<T> {
  readonly key: string
  /** The object did not change: it is redelivered, or was listed again in the same version. */
  readonly sync: boolean
  /** The object belongs to the initial list. */
  readonly initial: boolean
  readonly #hot: HotObjects<T>
  readonly #from: Item<T> | undefined
  readonly #to: Item<T> | undefined
  // The new object in the store, which has the contents of #to until it is renewed.
  readonly #stored: Item<T> | undefined
  // The last state of a deleted object.
  readonly #last: Item<T> | undefined
  readonly #lastUnknown: boolean
  // The decoded forms. All handlers of an informer receive the same change, so that each form is decoded once for all of them.
  #before: T | undefined
  #after: T | undefined
  #deleted: DeletedObject<T> | undefined
  #isCopy = false

  constructor(hot: HotObjects<T>, parts: ChangeParts<T>) {
    this.key = parts.key
    this.sync = parts.sync
    this.initial = parts.initial
    this.#hot = hot
    this.#from = parts.before
    this.#to = parts.after
    this.#last = parts.last
    this.#lastUnknown = parts.lastUnknown ?? false
    this.#stored = parts.stored ?? parts.after
    // Takes over the parsed form, if any: the store no longer needs it.
    if (parts.before !== undefined && parts.before !== parts.after && isEncoded(parts.before)) {
      this.#before = hot.take(parts.before)
    }
  }

  get type(): 'add' | 'update' | 'delete' {
    return this.#to === undefined ? 'delete' : this.#from === undefined ? 'add' : 'update'
  }

  get before(): T | undefined {
    if (this.#from === undefined) return undefined
    // In a resync both are the same object.
    if (this.#from === this.#to) return this.after
    return (this.#before ??= this.#decoded(this.#from))
  }

  get after(): T | undefined {
    if (this.#to === undefined) return undefined
    if (this.#after !== undefined) return this.#after
    const stored = this.#stored as Item<T>
    const isCurrent = stored === this.#to || isSameVersion(stored, this.#to)
    const after = isCurrent ? this.#hot.read(stored, this.#to) : this.#decoded(this.#to)
    if (!this.initial || this.#isCopy) this.#after = after
    return after
  }

  /** Set for deletions only. */
  get deleted(): DeletedObject<T> | undefined {
    const last = this.#last
    if (last === undefined || this.#deleted !== undefined) return this.#deleted
    // When the deletion was missed, the last state is the one in the store.
    const object = last === this.#from ? (this.before as T) : this.#decoded(last)
    return (this.#deleted = { object, finalStateUnknown: this.#lastUnknown })
  }

  /** While a change waits for a handler: keeps the store from renewing an object that the change shares with it. */
  pin(): void {
    if (this.#isShared) (this.#to as EncodedObject<T>).pins++
  }

  /** Ends the effect of {@link pin}. An object that was not read before must not be read any more. */
  unpin(): void {
    if (this.#isShared) (this.#to as EncodedObject<T>).pins--
  }

  /**
   * The change to pass to a handler. A copy for a change of the initial list: those wait together, so their decoded
   * forms would fill the memory, and V8 would promote them.
   */
  forHandler(): Change<T> {
    if (!this.initial || !this.#isShared) return this
    const { key, sync, initial } = this
    const copy = new Change(this.#hot, { key, before: undefined, after: this.#to, sync, initial })
    copy.#isCopy = true
    return copy
  }

  /** Whether `after` was read. It then stays the same. */
  get wasRead(): boolean {
    return this.#after !== undefined
  }

  /** Whether the store has the same encoded object, and may renew it. */
  get #isShared(): boolean {
    return this.#to !== undefined && this.#to === this.#stored && isEncoded(this.#to)
  }

  /** Joins this change and a later one of the same key; undefined when they cancel each other out. */
  joined(next: Change<T>): Change<T> | undefined {
    if (next.sync) return this
    const before = this.#from
    if (before === undefined && next.#to === undefined) return undefined
    const initial = before === undefined && this.initial
    const both = new Change(this.#hot, {
      key: next.key,
      before,
      after: next.#to,
      stored: next.#stored,
      last: next.#last,
      lastUnknown: next.#lastUnknown,
      sync: false,
      initial,
    })
    both.#before = this.#before
    return both
  }

  #decoded(item: Item<T>): T {
    return isEncoded(item) ? item.decode() : item
  }
}

/**
 * Applies a delta to a store and returns the changes in order. The store is fully updated before the function returns,
 * so a handler of one change sees all of them. The deletions of a list come first.
 */
export function applyDelta<T extends KubeObject>(store: Indexer<T>, delta: Delta<T>, initial: boolean): Change<T>[] {
  switch (delta.type) {
    case 'Added':
    case 'Updated':
      return [replacement(store, delta.object, initial)]
    case 'Deleted': {
      const item = delta.object
      const key = keyOfItem(item)
      const before = store.take(key)
      // Handlers have never seen an object that is not in the store.
      if (before === undefined) return []
      return [deletion(store, key, before, ownContents(item), false)]
    }
    case 'Replaced':
      return replaceAll(store, delta.objects, delta.resourceVersion, initial)
    case 'Sync':
      return [...store.items()].map((item) => changeOf(store, item, item, false))
    case 'Bookmark':
      store.bookmark(delta.resourceVersion)
      return []
  }
}

/** Joins two consecutive changes of one key; undefined when they cancel each other out. */
export function joinChanges<T>(first: Change<T>, second: Change<T>): Change<T> | undefined {
  return first.joined(second)
}

/** The objects of a store as additions, for a handler that is added later. */
export function initialChanges<T extends KubeObject>(store: Indexer<T>): Change<T>[] {
  return [...store.items()].map((after) => {
    return new Change(store.hot, { key: keyOfItem(after), before: undefined, after, sync: false, initial: true })
  })
}

function replaceAll<T extends KubeObject>(
  store: Indexer<T>,
  objects: readonly Item<T>[],
  resourceVersion: string,
  initial: boolean,
): Change<T>[] {
  const earlier = new Map<string, Item<T>>()
  for (const item of store.items()) earlier.set(keyOfItem(item), item)
  store.replace(objects, resourceVersion)
  const changes: Change<T>[] = []
  for (const [key, item] of earlier) {
    if (!store.has(key)) changes.push(deletion(store, key, item, item, true))
  }
  for (const item of store.items()) changes.push(changeOf(store, earlier.get(keyOfItem(item)), item, initial))
  return changes
}

/** Whether the store has not renewed an object since. Versions are unique, unless a source has none. */
function isSameVersion<T>(stored: Item<T>, item: Item<T>): boolean {
  if (!isEncoded(stored) || !isEncoded(item)) return false
  return stored.resourceVersion !== '' && stored.resourceVersion === item.resourceVersion
}

/** Stores an object. */
function replacement<T extends KubeObject>(store: Indexer<T>, item: Item<T>, initial: boolean): Change<T> {
  const { before, stored } = store.put(item)
  return changeOf(store, before, ownContents(item), initial, stored)
}

/** Makes an object that is not stored safe to hand out: freezes it, or copies it out of the buffer that it arrived in. */
function ownContents<T>(item: Item<T>): Item<T> {
  if (isEncoded(item)) item.detach()
  else deepFreeze(item)
  return item
}

function changeOf<T extends KubeObject>(
  store: Indexer<T>,
  before: Item<T> | undefined,
  after: Item<T>,
  initial: boolean,
  stored: Item<T> = after,
): Change<T> {
  const sync = before !== undefined && versionOfItem(before) === versionOfItem(after)
  const first = initial && before === undefined
  return new Change(store.hot, { key: keyOfItem(after), before, after, stored, sync, initial: first })
}

function deletion<T extends KubeObject>(
  store: Indexer<T>,
  key: string,
  before: Item<T>,
  last: Item<T>,
  lastUnknown: boolean,
): Change<T> {
  return new Change(store.hot, { key, before, after: undefined, last, lastUnknown, sync: false, initial: false })
}
