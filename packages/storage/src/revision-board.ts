import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LocalStore } from './internal/local-store.ts'

/** The revision is stored twice, with different byte orders. */
const size = 16
/** A file in memory on Linux; elsewhere the cache of the file system suffices, because the file is never synced. */
const folders = ['/dev/shm', tmpdir()]

/**
 * The newest revision of a store in a file that other processes of the machine have open: reading it costs a microsecond and no work of
 * the process that owns the store.
 *
 * The store's process writes a revision in the turn of the event loop that publishes it. No response, watch event or message to another process
 * can be earlier, so a reader sees every revision that any process has learned of by then.
 */
export class RevisionBoard implements Disposable {
  /** Pass it to a child process, which creates a board with the descriptor that it has there. */
  readonly descriptor: number
  readonly #buffer = Buffer.alloc(size)
  #stop: () => void = () => undefined

  /** Uses a descriptor that this process has inherited. */
  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  /**
   * Creates a board that follows a store until it is disposed. The file has no name, so that it vanishes with the last process. Returns
   * undefined when the system does not allow this.
   */
  static follow(store: LocalStore): RevisionBoard | undefined {
    const descriptor = openNameless()
    if (descriptor === undefined) return undefined
    const board = new RevisionBoard(descriptor)
    const { mvcc, follow } = store.source
    const publish = (): void => board.#write(mvcc.revision)
    publish()
    board.#stop = follow(publish)
    return board
  }

  #write(revision: number): void {
    this.#buffer.writeDoubleLE(revision, 0)
    this.#buffer.writeDoubleBE(revision, 8)
    writeSync(this.descriptor, this.#buffer, 0, size, 0)
  }

  /** Returns the newest revision. */
  read(): number {
    for (;;) {
      readSync(this.descriptor, this.#buffer, 0, size, 0)
      const revision = this.#buffer.readDoubleLE(0)
      // A read may overlap with a write. Because of the byte orders, the two copies then differ.
      if (revision === this.#buffer.readDoubleBE(8)) return revision
    }
  }

  [Symbol.dispose](): void {
    this.#stop()
    closeSync(this.descriptor)
  }
}

function openNameless(): number | undefined {
  for (const folder of folders) {
    let own: string | undefined
    try {
      own = mkdtempSync(join(folder, 'kubewright-'))
      const descriptor = openSync(join(own, 'revision'), 'wx+', 0o600)
      try {
        rmSync(own, { recursive: true })
        return descriptor
      } catch {
        // A system that cannot remove open files.
        closeSync(descriptor)
      }
    } catch {
      // Not a folder of this system, or not writable: the next one may be.
    }
    if (own !== undefined) rmSync(own, { recursive: true, force: true })
  }
  return undefined
}
