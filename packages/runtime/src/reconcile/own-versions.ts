import { compareResourceVersions, isComparableResourceVersion } from '@kubewright/api'

interface Entry {
  /** The versions that were written and whose change has not been delivered yet, oldest first. */
  readonly versions: string[]
  /** The number of writes in flight. */
  writing: number
  /** Changes that were delivered while a write was in flight. */
  readonly waiting: { readonly version: string; readonly admit: () => void }[]
}

/**
 * Recognizes the changes that a controller made itself and knows completely, so that they need not be reconciled: the
 * versions that its own writes resulted in. Every other change is admitted.
 *
 * A watch may deliver a change before the response of the write arrives. Changes of an object are therefore held back
 * while a write to it is in flight. That delays nothing: the key is in process during that time.
 */
export class OwnVersions {
  readonly #entries = new Map<string, Entry>()

  /**
   * Runs a write to an object. The result of the write is the version to recognize; undefined when the controller does
   * not know all of the stored object, or when nothing was stored.
   */
  async during<T extends { readonly known: string | undefined }>(key: string, write: () => Promise<T>): Promise<T> {
    const entry = this.#entries.get(key) ?? { versions: [], writing: 0, waiting: [] }
    this.#entries.set(key, entry)
    entry.writing++
    try {
      const result = await write()
      if (result.known !== undefined) entry.versions.push(result.known)
      return result
    } finally {
      entry.writing--
      if (entry.writing === 0) this.#settle(key, entry)
    }
  }

  /** Whether changes of the object may be own ones. Cheap: false for most objects, whose changes need no further look. */
  concerns(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Calls `admit`, now or when the writes in flight have ended, unless the version is an own one. */
  filter(key: string, version: string, admit: () => void): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) admit()
    else if (entry.writing > 0) entry.waiting.push({ version, admit })
    else if (!this.#isOwn(key, entry, version)) admit()
  }

  /** Forgets an object, because it is deleted. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.writing === 0) this.#entries.delete(key)
  }

  #settle(key: string, entry: Entry): void {
    for (const { version, admit } of entry.waiting.splice(0)) if (!this.#isOwn(key, entry, version)) admit()
    if (entry.versions.length === 0) this.#entries.delete(key)
  }

  /** Each version is recognized once. Versions that are older than a delivered one will not be delivered any more. */
  #isOwn(key: string, entry: Entry, version: string): boolean {
    const at = entry.versions.indexOf(version)
    const delivered = at >= 0 ? at + 1 : entry.versions.findLastIndex((own) => isNewer(version, own)) + 1
    entry.versions.splice(0, delivered)
    if (entry.versions.length === 0 && entry.writing === 0) this.#entries.delete(key)
    return at >= 0
  }
}

function isNewer(a: string, b: string): boolean {
  return isComparableResourceVersion(a) && isComparableResourceVersion(b) && compareResourceVersions(a, b) > 0
}
