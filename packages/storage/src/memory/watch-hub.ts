import { onAbort } from '@kubewright/base'
import { FutureRevisionError, StorageError } from '../store/storage-error.ts'
import type { WatchBatch, WatchRequest } from '../store/store.ts'
import type { Mvcc } from './mvcc.ts'

/** A watch that may be waiting for a change. */
interface Waiter {
  wake: () => void
}

/**
 * Wakes watchers after a publication. A watcher is a cursor into the log: a slow one uses no memory, but fails with
 * {@link CompactedError} when a compaction overtakes it. Watchers of the same prefix at the same revision share their
 * batches.
 */
export class WatchHub {
  readonly #mvcc: Mvcc
  readonly #waiting = new Set<Waiter>()
  /** By prefix, the most recent batch and the revision after which it starts. */
  readonly #batches = new Map<string, { readonly after: number; readonly batch: WatchBatch }>()
  #closed = false

  constructor(mvcc: Mvcc) {
    this.#mvcc = mvcc
  }

  /**
   * Call after publishing. Each watcher continues in a microtask and receives everything published by then as one
   * batch.
   */
  wake(): void {
    this.#batches.clear()
    for (const waiter of this.#waiting) waiter.wake()
    this.#waiting.clear()
  }

  close(): void {
    this.#closed = true
    this.wake()
  }

  async *watch({ prefix, after = this.#mvcc.revision, signal }: WatchRequest): AsyncGenerator<WatchBatch> {
    if (after > this.#mvcc.revision) throw new FutureRevisionError(after, this.#mvcc.revision)
    let seen = after
    const waiter: Waiter = { wake: () => undefined }
    const stopListening = onAbort(signal, () => {
      this.#waiting.delete(waiter)
      waiter.wake()
    })
    try {
      while (!signal?.aborted) {
        if (this.#closed)
          throw new StorageError('KW_STORAGE_CLOSED', 'Cannot continue the watch as the store was closed')
        const batch = this.#batch(prefix, seen)
        // No await between reading the log and starting to wait: a publication after the read wakes this watcher.
        if (batch === undefined) await this.#next(waiter)
        else {
          seen = batch.revision
          yield batch
        }
      }
    } finally {
      stopListening()
    }
  }

  /** The changes after the revision as a batch; undefined when the revision is the newest. */
  #batch(prefix: string, after: number): WatchBatch | undefined {
    const { revision } = this.#mvcc
    const known = this.#batches.get(prefix)
    if (known?.after === after && known.batch.revision === revision) return known.batch
    const changes = this.#mvcc.changesAfter(after, prefix)
    if (after >= revision) return undefined
    const batch: WatchBatch = { changes, revision }
    this.#batches.set(prefix, { after, batch })
    return batch
  }

  #next(waiter: Waiter): Promise<void> {
    return new Promise((resolve) => {
      waiter.wake = resolve
      this.#waiting.add(waiter)
    })
  }
}
