import { SortedKeys } from '@kubewright/base'
import type { Entry } from '../store/store.ts'

/** The entries of an {@link Mvcc} at one revision, read in pieces while writes continue. See `Mvcc.freeze()`. */
export class FrozenState implements Disposable {
  readonly revision: number
  readonly #live: ReadonlyMap<string, Entry>
  readonly #keys: SortedKeys
  readonly #release: () => void
  /** For each key behind the cursor that was written since: its entry at the revision. */
  readonly #replaced = new Map<string, Entry | undefined>()
  /** The keys of `#replaced` that existed at the revision. They may be missing from `#keys` now. */
  readonly #existed = new SortedKeys()
  /** The last key that was read. */
  #cursor = ''

  constructor(revision: number, live: ReadonlyMap<string, Entry>, keys: SortedKeys, release: () => void) {
    this.revision = revision
    this.#live = live
    this.#keys = keys
    this.#release = release
  }

  /** The caller is about to replace the entry of a key. */
  replaced(key: string, entry: Entry | undefined): void {
    if (key <= this.#cursor || this.#replaced.has(key)) return
    this.#replaced.set(key, entry)
    if (entry) this.#existed.add(key)
  }

  /** The next entries in the order of their keys, up to about these limits; empty at the end. */
  next(maxEntries: number, maxBytes: number): Entry[] {
    const entries: Entry[] = []
    let bytes = 0
    let reached: string | undefined
    this.#keys.scan(this.#cursor, (key) => {
      if (key === this.#cursor) return true
      const entry = this.#replaced.has(key) ? this.#replaced.get(key) : this.#live.get(key)
      if (entry) {
        entries.push(entry)
        bytes += key.length + entry.value.length
      }
      reached = key
      return entries.length < maxEntries && bytes < maxBytes
    })
    const isFull = entries.length >= maxEntries || bytes >= maxBytes
    const end = isFull ? reached! : '\u{ffff}'
    // Entries up to there that were deleted since.
    let deleted = 0
    this.#existed.scan(this.#cursor, (key) => {
      if (key > end) return false
      if (key !== this.#cursor && !this.#live.has(key)) deleted = entries.push(this.#replaced.get(key)!)
      return true
    })
    if (deleted > 0) entries.sort((a, b) => (a.key < b.key ? -1 : 1))
    this.#cursor = end
    return entries
  }

  /** Forgets the copy. */
  [Symbol.dispose](): void {
    this.#release()
  }
}
