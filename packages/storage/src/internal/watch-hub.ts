import { FutureRevisionError, StorageError } from '../storage-error.ts'
import type { Change, WatchBatch, WatchRequest } from '../store.ts'
import type { Mvcc } from './mvcc.ts'

/** Wakes watchers when something was published. A watcher is a cursor into the log: a slow one costs no memory, and may fall off it. */
export class WatchHub {
  readonly #mvcc: Mvcc
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor(mvcc: Mvcc) {
    this.#mvcc = mvcc
  }

  /** Call after publishing; a watcher continues in a microtask and sees everything published by then as one batch. */
  wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  close(): void {
    this.#closed = true
    this.wake()
  }

  async *watch({ prefix, after = this.#mvcc.revision, signal }: WatchRequest): AsyncGenerator<WatchBatch> {
    if (after > this.#mvcc.revision) throw new FutureRevisionError(after, this.#mvcc.revision)
    let seen = after
    while (!signal?.aborted) {
      if (this.#closed) throw new StorageError('KW_STORAGE_CLOSED', 'Cannot continue the watch as the store was closed')
      const fresh: readonly Change[] = this.#mvcc.changesAfter(seen)
      if (fresh.length === 0) {
        await this.#next(signal)
        continue
      }
      seen = fresh.at(-1)!.revision
      yield { changes: fresh.filter((change) => change.key.startsWith(prefix)), revision: seen }
    }
  }

  #next(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }
}
