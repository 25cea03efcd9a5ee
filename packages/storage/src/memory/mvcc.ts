import { SortedKeys } from '@kubewright/base'
import { CompactedError, FutureRevisionError } from '../store/storage-error.ts'
import type { Change, Entry, ListRequest, Page } from '../store/store.ts'
import { FrozenState } from './frozen-state.ts'

/** A write whose condition was checked and that is about to be published. */
export interface Write {
  readonly key: string
  /** Undefined deletes the key. */
  readonly value: Uint8Array | undefined
}

/**
 * The versions of all keys in memory, and the log of changes since the compacted revision. Synchronous, so every method
 * is atomic.
 *
 * Revisions are dense: the change with revision r is `#log[r - #logStart]`. A watch is therefore a cursor into one
 * shared array and needs no queue.
 */
export class Mvcc {
  /** The newest version of each live key. */
  readonly #live = new Map<string, Entry>()
  readonly #keys: SortedKeys
  /** The changes after the compacted revision, oldest first. */
  #log: Change[]
  /** The revision of `#log[0]`. */
  #logStart: number
  #revision: number
  /** Reads below this revision fail. The log starts at the next revision. */
  #compacted: number
  #historyBytes = 0
  /** The copies that are being read. */
  readonly #frozen = new Set<FrozenState>()

  constructor(initial?: { readonly entries: Iterable<Entry>; readonly revision: number }) {
    this.#log = []
    this.#revision = initial?.revision ?? 1
    this.#compacted = this.#revision
    this.#logStart = this.#revision + 1
    const keys: string[] = []
    let isSorted = true
    let last = ''
    for (const entry of initial?.entries ?? []) {
      const { key } = entry
      this.#live.set(key, entry)
      keys.push(key)
      isSorted &&= last < key
      last = key
    }
    this.#keys = SortedKeys.from(isSorted ? keys : [...this.#live.keys()].sort())
    if (!initial) this.#compacted = 0
  }

  get revision(): number {
    return this.#revision
  }

  /** The oldest revision that can be read. */
  get compacted(): number {
    return this.#compacted
  }

  get size(): number {
    return this.#live.size
  }

  /**
   * The bytes of all values that only the log keeps in memory. A value counts once, with the change that replaced or deleted it; live
   * values do not count.
   */
  get historyBytes(): number {
    return this.#historyBytes
  }

  /** Applies the write at the next revision. The caller has checked its condition. */
  publish(write: Write): Change {
    const revision = ++this.#revision
    const previous = this.#live.get(write.key)
    for (const frozen of this.#frozen) frozen.replaced(write.key, previous)
    let change: Change
    if (write.value === undefined) {
      this.#live.delete(write.key)
      this.#keys.delete(write.key)
      change = { type: 'delete', key: write.key, revision, entry: undefined, previous }
    } else {
      const entry: Entry = {
        key: write.key,
        value: write.value,
        createRevision: previous?.createRevision ?? revision,
        modRevision: revision,
      }
      this.#live.set(write.key, entry)
      if (!previous) this.#keys.add(write.key)
      change = { type: 'put', key: write.key, revision, entry, previous }
    }
    this.#log.push(change)
    this.#historyBytes += previous?.value.length ?? 0
    return change
  }

  newest(key: string): Entry | undefined {
    return this.#live.get(key)
  }

  get(key: string, revision: number = this.#revision): Entry | undefined {
    this.#assertReadable(revision)
    const newest = this.#live.get(key)
    if (revision === this.#revision || (newest && newest.modRevision <= revision)) return newest
    // The first change of the key after the revision has the value at the revision as `previous`.
    for (let i = revision + 1 - this.#logStart; i < this.#log.length; i++) {
      const change = this.#log[i]!
      if (change.key === key) return change.previous
    }
    return newest
  }

  list({ prefix, after = '', limit = Number.POSITIVE_INFINITY, revision = this.#revision }: ListRequest): Page {
    this.#assertReadable(revision)
    const undo = revision === this.#revision ? undefined : this.#undo(prefix, revision)
    const entries: Entry[] = []
    let isFull = false
    /** Returns whether there is room for a further entry. */
    const take = (entry: Entry): boolean => {
      if (entries.length < limit) entries.push(entry)
      else isFull = true
      return !isFull
    }
    const behind = after >= prefix ? after : ''
    // Keys that existed at the revision and were deleted since, sorted for merging.
    const gone = undo
      ? [...undo]
          .filter(([key, e]) => e !== undefined && !this.#live.has(key) && key > behind)
          .map(([k]) => k)
          .sort()
      : []
    let g = 0
    this.#keys.scan(behind === '' ? prefix : behind, (key) => {
      if (!key.startsWith(prefix)) return false
      while (g < gone.length && gone[g]! < key) if (!take(undo!.get(gone[g++]!)!)) return false
      if (key === behind) return true
      const entry = undo?.has(key) ? undo.get(key) : this.#live.get(key)
      return entry === undefined || take(entry)
    })
    while (!isFull && g < gone.length) take(undo!.get(gone[g++]!)!)
    const last = entries.at(-1)?.key
    const remaining = isFull ? this.#countAfter(last ?? behind, prefix, undo) : 0
    return { entries, revision, next: isFull ? last : undefined, remaining }
  }

  /** The number of keys with the prefix behind a key, at the revision of `undo`. Visits only the keys that changed since then. */
  #countAfter(last: string, prefix: string, undo: ReadonlyMap<string, Entry | undefined> | undefined): number {
    // Keys are printable ASCII, so every key of the prefix sorts before this one.
    const end = `${prefix}\u{7f}`
    const start = last >= prefix ? last : prefix
    let count = this.#keys.rank(end) - this.#keys.rank(start)
    if (last >= prefix && this.#live.has(last)) count--
    for (const [key, before] of undo ?? []) {
      if (key <= last) continue
      if (this.#live.has(key) && before === undefined) count--
      else if (!this.#live.has(key) && before !== undefined) count++
    }
    return count
  }

  /**
   * The changes of keys with the prefix after the revision, in order. Scans all changes since then and copies the
   * matching ones.
   */
  changesAfter(revision: number, prefix: string): readonly Change[] {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted)
    const changes: Change[] = []
    for (let i = Math.max(0, revision + 1 - this.#logStart); i < this.#log.length; i++) {
      const change = this.#log[i]!
      if (change.key.startsWith(prefix)) changes.push(change)
    }
    return changes
  }

  compact(revision: number): void {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision)
    if (revision <= this.#compacted) return
    for (const { previous } of this.#log.splice(0, revision + 1 - this.#logStart)) {
      this.#historyBytes -= previous?.value.length ?? 0
    }
    this.#logStart = revision + 1
    this.#compacted = revision
  }

  /**
   * Compacts the oldest revisions when the history has more bytes than the limit, to half of the limit, so that a busy store does not
   * compact with every write. Keeps the changes after the revision `keep`, whatever their size.
   */
  trim(limit: number, keep: number): void {
    if (this.#historyBytes <= limit) return
    let bytes = this.#historyBytes
    let revision = this.#compacted
    for (const change of this.#log) {
      if (bytes <= limit / 2 || change.revision > keep) break
      bytes -= change.previous?.value.length ?? 0
      revision = change.revision
    }
    this.compact(revision)
  }

  /**
   * Starts a copy of the present state that is read in pieces, between which writes may be published. Costs nothing up front; until it
   * is disposed, it keeps the entries that writes replace.
   */
  freeze(): FrozenState {
    const frozen: FrozenState = new FrozenState(this.#revision, this.#live, this.#keys, () =>
      this.#frozen.delete(frozen),
    )
    this.#frozen.add(frozen)
    return frozen
  }

  /** All live entries in key order. */
  *entries(): Generator<Entry> {
    const keys: string[] = []
    this.#keys.scan('', (key) => keys.push(key) > 0)
    for (const key of keys) yield this.#live.get(key)!
  }

  clone(): Mvcc {
    const copy = new Mvcc({ entries: this.entries(), revision: this.#revision })
    copy.#log = this.#log.slice()
    copy.#logStart = this.#logStart
    copy.#compacted = this.#compacted
    copy.#historyBytes = this.#historyBytes
    return copy
  }

  /** The entries at the revision of all keys with the prefix that changed since then. */
  #undo(prefix: string, revision: number): Map<string, Entry | undefined> {
    const before = new Map<string, Entry | undefined>()
    for (let i = revision + 1 - this.#logStart; i < this.#log.length; i++) {
      const change = this.#log[i]!
      if (change.key.startsWith(prefix) && !before.has(change.key)) before.set(change.key, change.previous)
    }
    return before
  }

  #assertReadable(revision: number): void {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision)
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted)
  }
}
