import type { ForkableStore, WriteResult } from '../store/store.ts'
import { type HistoryOptions, LocalStore } from './local-store.ts'
import { Mvcc } from './mvcc.ts'

/** A store in memory only. A write is visible when its promise resolves, and is lost when the process ends. */
export class MemoryStore extends LocalStore implements ForkableStore {
  /** @param mvcc The initial contents; internal. */
  constructor(options: HistoryOptions = {}, mvcc: Mvcc = new Mvcc()) {
    super(mvcc, 'the store', options)
  }

  fork(): MemoryStore {
    this.assertOpen()
    return new MemoryStore({ historyBytes: this.historyLimit }, this.mvcc.clone())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true
    this.hub.close()
  }

  // No await between the check and the publication, so that a write is atomic.
  protected override async write(key: string, value: Uint8Array | undefined, expected: number): Promise<WriteResult> {
    this.assertOpen()
    const failed = this.conditionFailure(key, value, expected)
    if (failed) return failed
    const { revision, entry, previous } = this.mvcc.publish({ key, value })
    this.published(revision - 1)
    return { ok: true, revision, entry, previous }
  }
}
