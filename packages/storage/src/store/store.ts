/** One key at some revision. The bytes of the value are shared: never modify them. */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** The revision that created the key. A key that is deleted and created again gets a new one. */
  readonly createRevision: number
  /** The revision of the last write. */
  readonly modRevision: number
}

/** A change of one key. Each revision has exactly one change. */
export interface Change {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** The key after the change; undefined after a delete. */
  readonly entry: Entry | undefined
  /** The key before the change; undefined when the change created it. */
  readonly previous: Entry | undefined
}

/** The result of a conditional write. */
export type WriteResult =
  | {
      readonly ok: true
      readonly revision: number
      readonly entry: Entry | undefined
      readonly previous: Entry | undefined
    }
  /** The condition did not hold and nothing was written. `current` is the actual entry. */
  | { readonly ok: false; readonly revision: number; readonly current: Entry | undefined }

/** A page of entries in key order, all at one revision. */
export interface Page {
  readonly entries: readonly Entry[]
  /** The revision of the entries. */
  readonly revision: number
  /** Pass it as `after` to get the next page; undefined for the last page. */
  readonly next: string | undefined
  /** The number of keys with the prefix after this page. */
  readonly remaining: number
}

/** Selects the keys of a list. */
export interface ListRequest {
  readonly prefix: string
  /** Only keys that sort after this one. @default all keys */
  readonly after?: string | undefined
  /** The maximum number of entries. @default no limit */
  readonly limit?: number | undefined
  /** The revision to read. @default the newest */
  readonly revision?: number | undefined
}

/** Selects the changes of a watch. */
export interface WatchRequest {
  readonly prefix: string
  /** The watch delivers changes with a greater revision than this. @default the newest */
  readonly after?: number | undefined
  /** Ends the watch. The iterator then finishes without an error. */
  readonly signal?: AbortSignal | undefined
}

/** Consecutive changes in order of revision. May be empty. */
export interface WatchBatch {
  readonly changes: readonly Change[]
  /** Every matching change up to this revision was delivered. Advances also when no change matched the prefix. */
  readonly revision: number
}

/**
 * A multi-version key-value store in the style of etcd: bytes under ordered keys, one global revision that every write
 * increments by one, reads at any revision that was not compacted, and watches.
 *
 * Guarantees, which `@kubewright/storage/contract` tests:
 * - Keys are printable ASCII and ordered by code unit.
 * - A write resolves only when it is as durable as the store can make it. No reader or watcher sees it before that.
 * - A write that rejects was not made, unless the error is a {@link StorageError} with code `KW_STORAGE_UNCERTAIN`.
 * - A watch delivers each matching change exactly once, in order of revision, or fails with {@link CompactedError}.
 */
export interface Store extends AsyncDisposable {
  /**
   * Whether other processes may use the same data at the same time. A server on a shared store coordinates with them:
   * leader election, claims of addresses. @default false
   */
  readonly shared?: boolean | undefined
  /** Whether the data outlives the process, in a folder that no other process uses meanwhile. @default false */
  readonly persistent?: boolean | undefined
  /** The newest revision that readers see. A new store starts at 1. */
  revision(): Promise<number>
  get(
    key: string,
    options?: { readonly revision?: number | undefined },
  ): Promise<{ readonly entry: Entry | undefined; readonly revision: number }>
  list(request: ListRequest): Promise<Page>
  /** Writes the key if its modification revision is `expected`; 0 requires that the key does not exist. */
  put(key: string, value: Uint8Array, expected: number): Promise<WriteResult>
  /** Deletes the key if its modification revision is `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>
  /**
   * Watches changes. The iterator throws {@link CompactedError} when the next revision to deliver was compacted, at the
   * start or later.
   */
  watch(request: WatchRequest): AsyncIterable<WatchBatch>
  /** Discards history before the revision. Reads and watches below it fail with {@link CompactedError}. */
  compact(revision: number): Promise<void>
}

/** A store that can be copied cheaply, for tests that share a setup. */
export interface ForkableStore extends Store {
  /** An independent store with the same contents, revision and history. */
  fork(): ForkableStore
}
