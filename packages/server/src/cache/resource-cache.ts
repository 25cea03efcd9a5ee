import { SortedKeys } from '@kubewright/base'
import type { Change } from '@kubewright/storage'
import { type StoredObject, storedObject } from '../resource/stored-object.ts'

/** A change of one object, as watchers of its resource see it. */
export class CacheEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** After the change; for a deletion the last state under the deletion's revision. */
  readonly object: StoredObject
  /** Before the change. */
  readonly previous: StoredObject | undefined
  #frames: Partial<Record<'ADDED' | 'MODIFIED' | 'DELETED', Buffer>> = {}
  #lines: Partial<Record<'ADDED' | 'MODIFIED' | 'DELETED', Buffer>> = {}

  constructor(type: CacheEvent['type'], revision: number, object: StoredObject, previous: StoredObject | undefined) {
    this.type = type
    this.revision = revision
    this.object = object
    this.previous = previous
  }

  /** The line of a JSON watch stream, encoded once for all watchers. A selector may turn one type into another. */
  line(type: CacheEvent['type']): Buffer {
    return (this.#lines[type] ??= eventLine(type, this.objectFor(type).bytes))
  }

  /** The frame of a protobuf watch stream, likewise encoded once, by the first who needs it. */
  frame(type: CacheEvent['type'], encode: (type: string, object: unknown) => Buffer): Buffer {
    return (this.#frames[type] ??= encode(type, this.objectFor(type).object))
  }

  /** The object as an event of the type shows it. */
  objectFor(type: CacheEvent['type']): StoredObject {
    // Under a selector an object that no longer matches is deleted for the watcher, and shown as it was, at the new revision.
    return type === 'DELETED' && this.type !== 'DELETED' ? this.previous!.at(this.revision) : this.object
  }
}

/** One line of a watch stream. */
export function eventLine(type: string, object: Buffer): Buffer {
  const head = `{"type":"${type}","object":`
  const line = Buffer.allocUnsafe(head.length + object.length + 2)
  line.write(head, 0, 'latin1')
  object.copy(line, head.length)
  line.write('}\n', head.length + object.length, 'latin1')
  return line
}

/** How many changes a resource remembers for watchers that start in the past or lag. */
const windowSize = 10_000

/**
 * The current objects of one resource and its latest changes, fed in order. Watchers are cursors into the shared window: a slow one
 * costs no memory and is told when it fell off.
 */
export class ResourceCache {
  readonly prefix: string
  readonly #objects = new Map<string, StoredObject>()
  readonly #keys = new SortedKeys()
  #window: CacheEvent[] = []
  /** Number of the first event in the window, counted since the cache exists. */
  #first = 0
  /** Every change after this revision is in the window. */
  #completeAfter: number
  /** Increases when the cache was rebuilt and its history broke; cursors of an earlier one have ended. */
  #epoch = 0
  readonly #waiting = new Set<() => void>()

  constructor(prefix: string, revision: number) {
    this.prefix = prefix
    this.#completeAfter = revision
  }

  get size(): number {
    return this.#objects.size
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Every change after this revision can still be delivered. */
  get completeAfter(): number {
    return this.#completeAfter
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  /** Objects whose key starts with the prefix, in order. */
  list(prefix: string): StoredObject[] {
    const found: StoredObject[] = []
    this.scan(prefix, (object) => {
      found.push(object)
      return true
    })
    return found
  }

  /** Calls `visit` for each object whose key starts with the prefix, in order, until it returns false. */
  scan(prefix: string, visit: (object: StoredObject) => boolean): void {
    this.#keys.scan(prefix, (key) => key.startsWith(prefix) && visit(this.#objects.get(key)!))
  }

  /** How many objects have keys that start with the prefix, which ends with a slash. */
  count(prefix: string): number {
    // "0" is the character behind the slash.
    return this.#keys.rank(`${prefix.slice(0, -1)}0`) - this.#keys.rank(prefix)
  }

  apply(change: Change): void {
    const previous = this.#objects.get(change.key)
    let event: CacheEvent
    if (change.entry) {
      const object = storedObject(change.entry)
      this.#objects.set(change.key, object)
      if (!previous) this.#keys.add(change.key)
      event = new CacheEvent(previous ? 'MODIFIED' : 'ADDED', change.revision, object, previous)
    } else {
      if (!previous) return
      this.#objects.delete(change.key)
      this.#keys.delete(change.key)
      event = new CacheEvent('DELETED', change.revision, previous.at(change.revision), previous)
    }
    this.#window.push(event)
    if (this.#window.length >= windowSize * 2) {
      const dropped = this.#window.splice(0, windowSize)
      this.#first += dropped.length
      this.#completeAfter = dropped.at(-1)!.revision
    }
    this.wake()
  }

  /** Starts over from a full list, after history was lost. */
  reset(objects: Iterable<StoredObject>, revision: number): void {
    for (const key of this.#objects.keys()) this.#keys.delete(key)
    this.#objects.clear()
    for (const object of objects) {
      this.#objects.set(object.key, object)
      this.#keys.add(object.key)
    }
    this.#first += this.#window.length
    this.#window = []
    this.#completeAfter = revision
    this.#epoch++
    this.wake()
  }

  /** Resolves after the next change of this resource, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = (): void => {
        signal.removeEventListener('abort', done)
        this.#waiting.delete(done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener('abort', done)
    })
  }

  /** Lets all who wait look again. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /** The cursor behind all changes up to the revision; undefined when they are no longer complete. */
  cursorAfter(revision: number): number | undefined {
    if (revision < this.#completeAfter) return undefined
    let low = 0
    let high = this.#window.length
    while (low < high) {
      const mid = (low + high) >> 1
      if (this.#window[mid]!.revision <= revision) low = mid + 1
      else high = mid
    }
    return this.#first + low
  }

  /** The cursor behind the newest change. */
  get end(): number {
    return this.#first + this.#window.length
  }

  /** The event at the cursor, undefined when there is none yet, or 'lost' when it fell off the window. */
  eventAt(cursor: number): CacheEvent | undefined | 'lost' {
    if (cursor < this.#first) return 'lost'
    return this.#window[cursor - this.#first]
  }
}
