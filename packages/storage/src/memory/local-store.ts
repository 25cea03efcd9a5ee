import { defineBudget } from '@kubewright/base'
import { checkKey } from '../store/check-key.ts'
import { StorageError } from '../store/storage-error.ts'
import type { Entry, ListRequest, Page, Store, WatchBatch, WatchRequest, WriteResult } from '../store/store.ts'
import type { Mvcc } from './mvcc.ts'
import { WatchHub } from './watch-hub.ts'

/** Options of the stores that keep their history in memory. */
export interface HistoryOptions {
  /**
   * The approximate number of bytes of old values that the history keeps at most. When it has more, the oldest revisions are compacted.
   * @default 64 MiB
   */
  readonly historyBytes?: number | undefined
}

const defaultHistoryBytes = defineBudget(64 * 1024 * 1024, {
  group: 'server',
  what: 'bytes of old values in the history of a store in memory or in a folder',
  unit: 'bytes',
  option: '`historyBytes` of the store, `up --history-mib`',
  answer: 'the oldest revisions are compacted: reads and watches of them receive 410',
  kubernetes: 'no: etcd keeps 5 minutes',
})

/** A store whose versions are in memory. Implements reads and watches; subclasses implement how a write becomes durable. */
export abstract class LocalStore implements Store {
  protected readonly mvcc: Mvcc
  protected readonly hub: WatchHub
  protected closed = false
  /** Names this store in messages. */
  readonly #name: string
  protected readonly historyLimit: number

  protected constructor(mvcc: Mvcc, name: string, options: HistoryOptions) {
    this.mvcc = mvcc
    this.hub = new WatchHub(mvcc)
    this.#name = name
    this.historyLimit = options.historyBytes ?? defaultHistoryBytes
    mvcc.trim(this.historyLimit, mvcc.revision)
  }

  /** The bytes of old values that the history keeps. Exceeds the limit at most by the values that the last batch of writes replaced. */
  get historyBytes(): number {
    return this.mvcc.historyBytes
  }

  /** Writes the key if its modification revision is `expected`. */
  protected abstract write(key: string, value: Uint8Array | undefined, expected: number): Promise<WriteResult>
  abstract [Symbol.asyncDispose](): Promise<void>

  async revision(): Promise<number> {
    this.assertOpen()
    return this.mvcc.revision
  }

  async get(
    key: string,
    options?: { readonly revision?: number | undefined },
  ): Promise<{ entry: Entry | undefined; revision: number }> {
    this.assertOpen()
    const revision = options?.revision ?? this.mvcc.revision
    return { entry: this.mvcc.get(key, revision), revision }
  }

  async list(request: ListRequest): Promise<Page> {
    this.assertOpen()
    return this.mvcc.list(request)
  }

  put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    try {
      checkKey(key)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.write(key, value, expected)
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.write(key, undefined, expected)
  }

  watch(request: WatchRequest): AsyncIterable<WatchBatch> {
    this.assertOpen()
    return this.hub.watch(request)
  }

  async compact(revision: number): Promise<void> {
    this.assertOpen()
    this.mvcc.compact(revision)
    // A waiting watcher that is behind the compacted revision must fail.
    this.hub.wake()
  }

  /**
   * Wakes the watchers after writes were published, and limits the history. Keeps the changes after revision `before`, the newest one
   * before those writes: a watcher that has read everything up to it never fails.
   */
  protected published(before: number): void {
    this.mvcc.trim(this.historyLimit, before)
    this.hub.wake()
  }

  /** The result of a write whose condition fails; undefined when the condition holds. */
  protected conditionFailure(key: string, value: Uint8Array | undefined, expected: number): WriteResult | undefined {
    const current = this.mvcc.newest(key)
    const holds = (current?.modRevision ?? 0) === expected && (value !== undefined || current !== undefined)
    return holds ? undefined : { ok: false, revision: this.mvcc.revision, current }
  }

  protected assertOpen(): void {
    if (this.closed) throw new StorageError('KW_STORAGE_CLOSED', `Cannot use ${this.#name} as it was closed`)
  }
}
