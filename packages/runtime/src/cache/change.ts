import { type KubeObject, keyOf } from '@kubewright/api'
import { deepFreeze } from '@kubewright/base'
import type { Delta } from './delta-fifo.ts'
import type { Indexer } from './indexer.ts'

/** How an object was last. */
export interface DeletedObject<T> {
  /** Its final state or, if that is unknown, the last one that was seen. */
  readonly object: T
  /**
   * True when the deletion itself was not seen, because the object was missing when the resource was listed again: client-go's
   * DeletedFinalStateUnknown.
   */
  readonly finalStateUnknown: boolean
}

/**
 * What happened to one key: it went from `before` to `after`, where undefined means that there was no object. Such steps can be
 * joined, which is what keeps slow handlers bounded.
 */
export interface Change<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
  /** Present exactly for deletions. */
  readonly deleted?: DeletedObject<T>
  /** Nothing happened: the object is told again, or was listed again in the same version. */
  readonly sync: boolean
  /** The object belongs to the first list. */
  readonly initial: boolean
}

/**
 * Brings a store up to date with one delta and gives the changes in order. The store is complete before the first change is given,
 * so whoever is told about one sees all of them. Deletions of a replacement come first.
 */
export function applyDelta<T extends KubeObject>(store: Indexer<T>, delta: Delta<T>, initial: boolean): Change<T>[] {
  switch (delta.type) {
    case 'Added':
    case 'Updated':
      return [changeOf(store.set(delta.object), delta.object, initial)]
    case 'Deleted': {
      const key = keyOf(delta.object)
      const before = store.delete(key)
      // Nobody was told of an object that is not in the store, so there is nothing to take back.
      if (before === undefined) return []
      deepFreeze(delta.object)
      return [deletion(key, before, { object: delta.object, finalStateUnknown: false })]
    }
    case 'Replaced':
      return replaceAll(store, delta.objects, delta.resourceVersion, initial)
    case 'Sync':
      return store.list().map((object) => changeOf(object, object, false))
    case 'Bookmark':
      store.bookmark(delta.resourceVersion)
      return []
  }
}

/** The two changes of one key, one after the other, as one; undefined when together they come to nothing. */
export function joinChanges<T>(first: Change<T>, second: Change<T>): Change<T> | undefined {
  if (second.sync) return first
  const { key, after, deleted } = second
  if (first.before === undefined && after === undefined) return undefined
  const before = first.before
  const initial = before === undefined && first.initial
  return { key, before, after, ...(deleted === undefined ? {} : { deleted }), sync: false, initial }
}

function replaceAll<T extends KubeObject>(
  store: Indexer<T>,
  objects: readonly T[],
  resourceVersion: string,
  initial: boolean,
): Change<T>[] {
  const earlier = new Map(store.list().map((object) => [keyOf(object), object]))
  store.replace(objects, resourceVersion)
  const changes: Change<T>[] = []
  for (const [key, object] of earlier) {
    if (!store.has(key)) changes.push(deletion(key, object, { object, finalStateUnknown: true }))
  }
  for (const object of store.list()) changes.push(changeOf(earlier.get(keyOf(object)), object, initial))
  return changes
}

function changeOf<T extends KubeObject>(before: T | undefined, after: T, initial: boolean): Change<T> {
  const sync = before !== undefined && before.metadata.resourceVersion === after.metadata.resourceVersion
  return { key: keyOf(after), before, after, sync, initial: initial && before === undefined }
}

function deletion<T>(key: string, before: T, deleted: DeletedObject<T>): Change<T> {
  return { key, before, after: undefined, deleted, sync: false, initial: false }
}
