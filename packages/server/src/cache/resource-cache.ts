import { SortedKeys } from '@kubewright/base'
import type { Change } from '@kubewright/storage'
import { type StoredObject, storedObject } from '../resource/stored-object.ts'
import { WindowBudget } from './window-budget.ts'

/** A change of one object. Its encoded forms are created once and shared by all watchers. */
export class CacheEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** The object after the change; for a deletion its last state at the revision of the deletion. */
  readonly object: StoredObject
  /** The object before the change. */
  readonly previous: StoredObject | undefined
  // Undefined without encoded forms: most events in a window have none any more.
  #frames: Partial<Record<'ADDED' | 'MODIFIED' | 'DELETED', Buffer>> | undefined
  #lines: Partial<Record<'ADDED' | 'MODIFIED' | 'DELETED', Buffer>> | undefined

  constructor(type: CacheEvent['type'], revision: number, object: StoredObject, previous: StoredObject | undefined) {
    this.type = type
    this.revision = revision
    this.object = object
    this.previous = previous
  }

  /** The bytes of the object version that this event replaced. */
  get replacedBytes(): number {
    return this.previous?.size ?? 0
  }

  /** Discards encoded and parsed forms, which are created again when a watcher needs them. */
  releaseForms(): void {
    this.#frames = undefined
    this.#lines = undefined
    this.previous?.releaseForms()
    // Live objects too: most of them are not read again for a long time, and the forms take several times the memory of the bytes.
    this.object.releaseForms()
  }

  /** The line of a JSON watch stream. The type may differ from the event's own, because of a watcher's selector. */
  line(type: CacheEvent['type']): Buffer {
    this.#lines ??= {}
    return (this.#lines[type] ??= storedLine(type, this.objectFor(type)))
  }

  /** The frame of a protobuf watch stream, encoded by the first watcher that needs it. */
  frame(type: CacheEvent['type'], encode: (type: string, object: unknown) => Buffer): Buffer {
    this.#frames ??= {}
    return (this.#frames[type] ??= encode(type, this.objectFor(type).object))
  }

  /** Returns the object to send in a watch event of the given type. */
  objectFor(type: CacheEvent['type']): StoredObject {
    // A watcher whose selector no longer matches receives DELETED with the previous object at the new revision.
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

/** One line of a watch stream with a stored object, which is copied from its stored bytes without another form in between. */
export function storedLine(type: string, object: StoredObject): Buffer {
  const line = Buffer.allocUnsafe(lineSize(type, object))
  return line.subarray(0, writeLine(type, object, line, 0))
}

/** Pieces of {@link storedLines} are about this large; one with a large object is larger. */
const pieceBytes = 256 * 1024

/**
 * The lines of many stored objects in pieces of several lines, encoded when they are read: a buffer for each of 100,000 objects costs more
 * than its bytes.
 */
export function* storedLines(type: string, objects: Iterable<StoredObject>): Iterable<Buffer> {
  let piece = Buffer.allocUnsafe(0)
  let at = 0
  for (const object of objects) {
    const size = lineSize(type, object)
    if (at + size > piece.length) {
      if (at > 0) yield piece.subarray(0, at)
      // The receiver may still hold the previous piece.
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, size))
      at = 0
    }
    at = writeLine(type, object, piece, at)
  }
  if (at > 0) yield piece.subarray(0, at)
}

const lineHead = (type: string): string => `{"type":"${type}","object":`

/** An upper bound of the bytes that {@link writeLine} writes. */
const lineSize = (type: string, object: StoredObject): number => lineHead(type).length + object.itemSize + 2

/** Writes a line into a buffer and returns the offset behind it. */
function writeLine(type: string, object: StoredObject, out: Buffer, at: number): number {
  const head = lineHead(type)
  out.write(head, at, 'latin1')
  const end = object.writeItem(out, at + head.length, true)
  out.write('}\n', end, 'latin1')
  return end + 2
}

/**
 * The number of changes that a resource keeps for watchers that start in the past or lag behind, unless the window has too many bytes: see
 * {@link WindowBudget}.
 */
const windowSize = 10_000

/** A cache that is filled with more objects does not check them at once: see {@link ResourceCache.isChecked}. */
const checkedAtOnce = 10_000

/**
 * The current objects of one resource and a window of its latest changes, fed in the order of revisions. Watchers are cursors into the
 * shared window: a slow watcher costs no memory, and its cursor is reported as lost once the window has moved past it.
 */
export class ResourceCache {
  readonly prefix: string
  readonly #objects = new Map<string, StoredObject>()
  #keys = new SortedKeys()
  /** The last result of {@link ResourceCache.snapshot}, until the next change. */
  #snapshot: { readonly prefix: string; readonly objects: readonly StoredObject[] } | undefined
  /** The objects that cannot be read. Lists and events leave them out, so that one of them does not affect the others. */
  readonly #unreadable = new Map<string, StoredObject>()
  #isChecked = true
  /** The objects up to this key have been checked. */
  #checkedUpTo = ''
  readonly #budget: WindowBudget
  #window: CacheEvent[] = []
  #windowBytes = 0
  /** The cursor of the first event in the window, counted from the creation of the cache. */
  #first = 0
  /** The window contains every change after this revision. */
  #completeAfter: number
  /** Incremented by {@link ResourceCache.reset}, which invalidates earlier cursors. */
  #epoch = 0
  readonly #waiting = new Set<() => void>()
  readonly #followers = new Set<() => void>()
  #isNotifying = false

  constructor(prefix: string, revision: number, budget: WindowBudget = new WindowBudget()) {
    this.prefix = prefix
    this.#completeAfter = revision
    this.#budget = budget
  }

  get size(): number {
    return this.#objects.size
  }

  get epoch(): number {
    return this.#epoch
  }

  /**
   * Whether all objects are known to be readable. A check takes longer than everything else that a start does with an object, so in a cache
   * that was filled with many objects it happens when an object is first read, or by {@link ResourceCache.check}.
   */
  get isChecked(): boolean {
    return this.#isChecked
  }

  /**
   * The stored objects that cannot be read, of those that have been checked. No member but {@link ResourceCache.unreadable} shows them.
   */
  get unreadable(): ReadonlyMap<string, StoredObject> {
    return this.#unreadable
  }

  /** The bytes of the old object versions in the window. */
  get windowBytes(): number {
    return this.#windowBytes
  }

  /** The revision from which on every change can still be delivered. */
  get completeAfter(): number {
    return this.#completeAfter
  }

  get(key: string): StoredObject | undefined {
    const object = this.#objects.get(key)
    if (this.#isChecked || object?.problem === undefined) return object
    this.#hide(object)
    return undefined
  }

  /** Checks some of the objects that have not been checked, in the order of keys. */
  check(count: number): void {
    let last: string | undefined
    let left = count
    this.#scan(this.#checkedUpTo, ({ key }) => {
      last = key
      return --left > 0
    })
    if (last === undefined || left > 0) this.#isChecked = true
    else this.#checkedUpTo = last
  }

  /** The objects whose keys start with the prefix, in the order of keys. */
  list(prefix: string): StoredObject[] {
    const found: StoredObject[] = []
    this.scan(prefix, (object) => {
      found.push(object)
      return true
    })
    return found
  }

  /**
   * As {@link ResourceCache.list}, but returns the same array until the resource changes, which must not be modified. What was made of all
   * objects of a list can be kept by this array.
   */
  snapshot(prefix: string): readonly StoredObject[] {
    if (this.#snapshot?.prefix !== prefix) this.#snapshot = { prefix, objects: this.list(prefix) }
    return this.#snapshot.objects
  }

  /** Calls `visit` for each object whose key starts with the prefix, in the order of keys, until it returns false. */
  scan(prefix: string, visit: (object: StoredObject) => boolean): void {
    this.#scan(prefix, (object) => object.key.startsWith(prefix) && visit(object))
  }

  /** Calls `visit` for each object from a key on. Hides objects that turn out to be unreadable. */
  #scan(start: string, visit: (object: StoredObject) => boolean): void {
    if (this.#isChecked) {
      this.#keys.scan(start, (key) => visit(this.#objects.get(key)!))
      return
    }
    const hidden: StoredObject[] = []
    this.#keys.scan(start, (key) => {
      const object = this.#objects.get(key)!
      if (object.problem === undefined) return visit(object)
      return hidden.push(object) > 0
    })
    for (const object of hidden) this.#hide(object)
  }

  #hide(object: StoredObject): void {
    this.#objects.delete(object.key)
    this.#keys.delete(object.key)
    this.#unreadable.set(object.key, object)
  }

  /**
   * The number of objects whose keys start with the prefix, which must end with a slash. Takes logarithmic time. Counts objects that have
   * not been checked.
   */
  count(prefix: string): number {
    // "0" is the character that follows the slash: all keys of the prefix sort before it.
    return this.#keys.rank(`${prefix.slice(0, -1)}0`) - this.#keys.rank(prefix)
  }

  /**
   * Applies the next change of the store. Synchronous: readers never see objects and window out of step. To watchers, an object that can
   * no longer be read is deleted, and one that can be read again is new.
   */
  apply(change: Change): void {
    this.#snapshot = undefined
    const previous = this.get(change.key)
    const object = change.entry && storedObject(change.entry)
    const isReadable = object !== undefined && object.problem === undefined
    if (object && !isReadable) this.#unreadable.set(change.key, object)
    else if (this.#unreadable.size > 0) this.#unreadable.delete(change.key)
    let event: CacheEvent
    if (isReadable) {
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
    this.#windowBytes += event.replacedBytes
    this.#budget.add(this, event)
    if (this.#window.length >= windowSize * 2) this.#drop(windowSize)
    this.wake()
  }

  /** Drops the oldest events until the window has half of its bytes. */
  shrink(): void {
    let bytes = this.#windowBytes
    let count = 0
    while (bytes > this.#windowBytes / 2) bytes -= this.#window[count++]!.replacedBytes
    this.#drop(count)
  }

  #drop(count: number): void {
    const dropped = this.#window.splice(0, count)
    this.#first += dropped.length
    this.#completeAfter = dropped.at(-1)!.revision
    let bytes = 0
    for (const event of dropped) bytes += event.replacedBytes
    this.#windowBytes -= bytes
    this.#budget.subtract(bytes)
  }

  /**
   * Replaces all objects, which are in the order of their keys, after a gap in the history of the store. Ends the cursors of all watchers.
   */
  reset(objects: Iterable<StoredObject>, revision: number): void {
    this.#snapshot = undefined
    this.#objects.clear()
    this.#unreadable.clear()
    const keys: string[] = []
    for (const object of objects) {
      this.#objects.set(object.key, object)
      keys.push(object.key)
    }
    this.#keys = SortedKeys.from(keys)
    this.#isChecked = false
    this.#checkedUpTo = ''
    if (keys.length <= checkedAtOnce) this.check(Number.POSITIVE_INFINITY)
    this.#first += this.#window.length
    this.#window = []
    this.#budget.subtract(this.#windowBytes)
    this.#windowBytes = 0
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

  /**
   * Calls the listener after changes of this resource, until the returned function is called. Changes that are applied together cause one
   * call, in a microtask, when all caches have them. The listener must not throw. Unlike {@link ResourceCache.changed}, it needs no promise
   * for each change, which matters for thousands of watchers.
   */
  follow(listener: () => void): () => void {
    this.#followers.add(listener)
    return () => this.#followers.delete(listener)
  }

  /** Resolves all pending calls of {@link ResourceCache.changed}, and calls the followers. */
  wake(): void {
    for (const wake of [...this.#waiting]) wake()
    if (this.#isNotifying || this.#followers.size === 0) return
    this.#isNotifying = true
    queueMicrotask(() => {
      this.#isNotifying = false
      for (const listener of this.#followers) listener()
    })
  }

  /** The cursor behind all changes up to the revision; undefined when changes after it have left the window. */
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

  /** The event at the cursor; undefined when it has not happened yet, 'lost' when it has left the window. */
  eventAt(cursor: number): CacheEvent | undefined | 'lost' {
    if (cursor < this.#first) return 'lost'
    return this.#window[cursor - this.#first]
  }
}
