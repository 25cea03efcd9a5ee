/** One key as it was at some revision. The value's bytes are shared: never change them. */
export interface Entry {
  readonly key: string
  readonly value: Uint8Array
  /** Revision that created the key (again, if it had been deleted). */
  readonly createRevision: number
  /** Revision of the last write. */
  readonly modRevision: number
}

/** A change of one key. Exactly one change has each revision. */
export interface Change {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  /** The key after the change; undefined after a delete. */
  readonly entry: Entry | undefined
  /** The key before the change; undefined when the change created it. */
  readonly previous: Entry | undefined
}

/** What a conditional write did. */
export type WriteResult =
  | {
      readonly ok: true
      readonly revision: number
      readonly entry: Entry | undefined
      readonly previous: Entry | undefined
    }
  /** The condition did not hold: nothing was written. `current` is what was there instead. */
  | { readonly ok: false; readonly revision: number; readonly current: Entry | undefined }

/** A page of keys in order, all as of one revision. */
export interface Page {
  readonly entries: readonly Entry[]
  /** The revision that the page shows. */
  readonly revision: number
  /** Pass as `after` to get the next page; undefined when this was the last one. */
  readonly next: string | undefined
  /** How many keys of the prefix follow this page. */
  readonly remaining: number
}

/** Which keys a list returns. */
export interface ListRequest {
  readonly prefix: string
  /** Only keys that sort behind this one. @default all */
  readonly after?: string
  /** At most so many entries. @default all */
  readonly limit?: number
  /** As of this revision. @default the newest */
  readonly revision?: number
}

/** What a watch follows. */
export interface WatchRequest {
  readonly prefix: string
  /** Changes after this revision; the first one delivered has a greater revision. @default the newest */
  readonly after?: number
  /** Ends the watch; the iterator then finishes without an error. */
  readonly signal?: AbortSignal
}

/** Changes that were published together, in order of revision. */
export interface WatchBatch {
  readonly changes: readonly Change[]
  /** Everything up to this revision has been delivered, also if no change matched the prefix. */
  readonly revision: number
}

/**
 * A multi-version key-value store in the spirit of etcd: bytes under ordered keys, one global revision that every write increments by
 * one, reads at any revision that has not been compacted, and watches that deliver each change once, in order.
 *
 * - Keys are printable ASCII and ordered by code unit.
 * - A write resolves only when it is as durable as the store can make it, and no reader or watcher sees it earlier.
 * - A rejected write was not made, unless the error is a {@link StorageError} with code `KW_STORAGE_UNCERTAIN`.
 */
export interface Store extends AsyncDisposable {
  /** The newest revision that readers see. A fresh store starts at 1. */
  revision(): Promise<number>
  get(
    key: string,
    options?: { readonly revision?: number },
  ): Promise<{ readonly entry: Entry | undefined; readonly revision: number }>
  list(request: ListRequest): Promise<Page>
  /** Writes the key if its modification revision is `expected`; 0 means that it must not exist. */
  put(key: string, value: Uint8Array, expected: number): Promise<WriteResult>
  /** Deletes the key if its modification revision is `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>
  /** Follows changes. Throws {@link CompactedError} from the iterator when the revision wanted is gone, at the start or later. */
  watch(request: WatchRequest): AsyncIterable<WatchBatch>
  /** Forgets history before the revision: reads and watches below it fail with {@link CompactedError}. */
  compact(revision: number): Promise<void>
}

/** A store that can be duplicated cheaply, for tests that share a set-up. */
export interface ForkableStore extends Store {
  /** An independent store with the same content and revision. */
  fork(): ForkableStore
}
