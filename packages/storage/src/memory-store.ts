import { checkKey } from './internal/check-key.ts'
import { Mvcc } from './internal/mvcc.ts'
import { WatchHub } from './internal/watch-hub.ts'
import { StorageError } from './storage-error.ts'
import type { Entry, ForkableStore, ListRequest, Page, WatchBatch, WatchRequest, WriteResult } from './store.ts'

/** Keeps everything in memory and nothing on disk. Writes are visible when their promise resolves, and gone with the process. */
export class MemoryStore implements ForkableStore {
  readonly #mvcc: Mvcc
  readonly #hub: WatchHub
  #closed = false

  constructor(mvcc: Mvcc = new Mvcc()) {
    this.#mvcc = mvcc
    this.#hub = new WatchHub(mvcc)
  }

  async revision(): Promise<number> {
    this.#assertOpen()
    return this.#mvcc.revision
  }

  async get(
    key: string,
    options?: { readonly revision?: number },
  ): Promise<{ entry: Entry | undefined; revision: number }> {
    this.#assertOpen()
    const revision = options?.revision ?? this.#mvcc.revision
    return { entry: this.#mvcc.get(key, revision), revision }
  }

  async list(request: ListRequest): Promise<Page> {
    this.#assertOpen()
    return this.#mvcc.list(request)
  }

  async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    checkKey(key)
    return this.#write(key, value, expected)
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    return this.#write(key, undefined, expected)
  }

  watch(request: WatchRequest): AsyncIterable<WatchBatch> {
    this.#assertOpen()
    return this.#hub.watch(request)
  }

  async compact(revision: number): Promise<void> {
    this.#assertOpen()
    this.#mvcc.compact(revision)
    // A watcher that waits far behind learns that it fell off the log.
    this.#hub.wake()
  }

  fork(): MemoryStore {
    this.#assertOpen()
    return new MemoryStore(this.#mvcc.clone())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#hub.close()
  }

  // No await between the check and the publication: that is what makes a write atomic.
  #write(key: string, value: Uint8Array | undefined, expected: number): WriteResult {
    this.#assertOpen()
    const current = this.#mvcc.newest(key)
    if ((current?.modRevision ?? 0) !== expected || (value === undefined && !current)) {
      return { ok: false, revision: this.#mvcc.revision, current }
    }
    const { revision, entry, previous } = this.#mvcc.publish({ key, value })
    this.#hub.wake()
    return { ok: true, revision, entry, previous }
  }

  #assertOpen(): void {
    if (this.#closed) throw new StorageError('KW_STORAGE_CLOSED', 'Cannot use the store as it was closed')
  }
}
