import { resolve } from 'node:path'
import { folderProblem } from '../folder/folder-problem.ts'
import type { FrozenState } from '../memory/frozen-state.ts'
import { type HistoryOptions, LocalStore } from '../memory/local-store.ts'
import type { Mvcc } from '../memory/mvcc.ts'
import { StorageError } from '../store/storage-error.ts'
import type { Entry, WriteResult } from '../store/store.ts'
import { type Disk, type DurableFile, nodeDisk } from './disk.ts'
import { type FolderLock, lockFolder } from './folder-lock.ts'
import { Marker } from './marker.ts'
import { type Recovered, recover } from './recover.ts'
import {
  createLog,
  createSnapshot,
  frameBytes,
  frameEntries,
  logName,
  type PreparedLog,
  piecesOf,
  prepareLog,
  snapshotName,
  startLog,
} from './state-file.ts'
import { encodeFrame, headerSize, storeFormat, type WalRecord } from './wal-format.ts'

/** Options of {@link openDurableStore}. */
export interface DurableStoreOptions extends HistoryOptions {
  /**
   * The size in bytes at which the log is replaced by a snapshot. A log may always become as large as the last snapshot, so that large
   * stores do not write snapshots all the time. @default 64 MiB
   */
  readonly snapshotBytes?: number | undefined
  /** A disk to use instead of the real folder. The folder's name then appears only in messages. */
  readonly disk?: Disk | undefined
}

interface Pending {
  readonly key: string
  readonly value: Uint8Array | undefined
  resolve(result: WriteResult): void
  reject(error: unknown): void
}

const noValue = new Uint8Array(0)

/** The log grows in steps of so many bytes. A write that does not make the file larger takes one access to the disk instead of two. */
const growthBytes = 256 * 1024

/** Errors after which the contents of the file are known: the write did not become durable and may succeed later. */
const recoverable = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/**
 * A store in a folder. A write is appended to a log and resolves when it is on the medium; writes that arrive during an
 * append share the next one (group commit). All entries are also kept in memory, so reads never access the disk.
 *
 * Ordering: a write is published to readers and watchers only after its append succeeded, in the order of the log. When
 * an append fails, none of its writes is published and all of them reject.
 */
export class DurableStore extends LocalStore {
  readonly persistent = true
  /** What opening the folder dropped or changed, a sentence each: an incomplete last write, an older format. Usually empty. */
  readonly openNotes: readonly string[]
  readonly #folder: string
  readonly #disk: Disk
  readonly #lock: FolderLock | undefined
  readonly #snapshotBytes: number
  readonly #marker: Marker
  #marking: Promise<void> | undefined
  /** The size of the last snapshot. */
  #snapshotSize: number
  #log: DurableFile
  /** The bytes of the log up to the end of its last frame. */
  #logLength: number
  /** The size of the file of the log. Zeros follow the last frame. */
  #logSize: number
  #queue: Pending[] = []
  /**
   * The undecided write to each key. A second writer of the key waits for it, because the outcome determines its
   * condition.
   */
  readonly #inFlight = new Map<string, Promise<unknown>>()
  #committing: Promise<void> | undefined
  #snapshotting: Promise<void> | undefined
  /** The file of the next log. Exists from the moment when the present log has become too long. */
  #prepared: PreparedLog | undefined
  #preparing: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Set when the contents of the disk are no longer known. All later writes reject with it; reads continue. */
  #broken: StorageError | undefined

  /** @internal Use {@link openDurableStore}. */
  constructor(parts: {
    folder: string
    disk: Disk
    lock: FolderLock | undefined
    mvcc: Mvcc
    log: DurableFile
    logLength: number
    marker: Marker
    snapshotBytes: number
    snapshotSize: number
    history: HistoryOptions
    notes: readonly string[]
  }) {
    super(parts.mvcc, `the store in ${parts.folder}`, parts.history)
    this.openNotes = parts.notes
    this.#folder = parts.folder
    this.#disk = parts.disk
    this.#lock = parts.lock
    this.#snapshotSize = parts.snapshotSize
    this.#log = parts.log
    this.#marker = parts.marker
    this.#logLength = parts.logLength
    this.#logSize = parts.logLength
    // The minimum keeps a log from being replaced before it has a write: its successor would have the same name.
    this.#snapshotBytes = Math.max(parts.snapshotBytes, 2 * headerSize)
  }

  /** Completes the writes in flight, then closes the files and releases the folder. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.closed = true
    await this.#committing
    await this.#snapshotting
    await this.#preparing
    await this.#prepared?.discard()
    this.hub.close()
    // Zeros at the end do no harm when this fails.
    if (this.#logSize > this.#logLength && !this.#broken) await this.#cutLog().catch(() => undefined)
    await this.#marking
    await this.#mark()
    await this.#marker.close().catch(() => undefined)
    try {
      await this.#log.close()
    } finally {
      await this.#lock?.[Symbol.asyncDispose]()
    }
  }

  protected override write(key: string, value: Uint8Array | undefined, expected: number): Promise<WriteResult> {
    try {
      this.assertOpen()
    } catch (error) {
      return Promise.reject(error)
    }
    const other = this.#inFlight.get(key)
    if (other) {
      const again = (): Promise<WriteResult> => this.write(key, value, expected)
      return other.then(again, again)
    }
    if (this.#broken) return Promise.reject(this.#broken)
    const failed = this.conditionFailure(key, value, expected)
    if (failed) return Promise.resolve(failed)
    // No await between the condition check above and marking the key as in flight: otherwise two writers could pass the
    // check.
    const written = new Promise<WriteResult>((resolve, reject) => this.#queue.push({ key, value, resolve, reject }))
    this.#inFlight.set(key, written)
    this.#committing ??= this.#commitAll()
    return written
  }

  /** Commits queued writes, batch by batch, until the queue is empty. Never rejects: failures go to the writers. */
  async #commitAll(): Promise<void> {
    // Yield once, so that writers of the same turn share the first batch.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      const batch = this.#queue
      this.#queue = []
      await this.#commit(batch)
      const isLong = this.#logLength > Math.max(this.#snapshotBytes, this.#snapshotSize)
      if (isLong && !this.#snapshotting && !this.#broken) {
        // Writers do not wait while the file is created, only while it becomes the log.
        if (this.#prepared) await this.#rotate(this.#prepared)
        else this.#preparing ??= this.#prepare()
      }
    }
    this.#committing = undefined
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    let failure = this.#broken ?? this.#lockLost()
    const size = this.#logSize
    if (!failure) {
      try {
        const frame = encodeFrame(batch.map((write, i) => this.#record(write, this.mvcc.revision + 1 + i)))
        await this.#append(frame)
      } catch (error) {
        failure = await this.#recoverFrom(error)
      }
    }
    const before = this.mvcc.revision
    // Once for each step in which the log grows, beside the writes.
    if (!failure && this.#logSize !== size) this.#marking ??= this.#mark()
    for (const { key, value, resolve, reject } of batch) {
      this.#inFlight.delete(key)
      if (failure) reject(failure)
      else {
        const { revision, entry, previous } = this.mvcc.publish({ key, value })
        resolve({ ok: true, revision, entry, previous })
      }
    }
    if (!failure) this.published(before)
  }

  /** Appends a frame, and zeros behind it when the file must grow. Without the space for them, it appends the frame only. */
  async #append(frame: Buffer): Promise<void> {
    const start = this.#logLength
    const end = start + frame.length
    if (end <= this.#logSize) await this.#log.write(frame, start)
    else {
      const size = Math.ceil(end / growthBytes) * growthBytes
      try {
        await this.#log.write(Buffer.concat([frame], size - start), start)
        this.#logSize = size
      } catch (error) {
        if (!recoverable.has((error as NodeJS.ErrnoException).code ?? '')) throw error
        await this.#cutLog()
        await this.#log.write(frame, start)
        this.#logSize = end
      }
    }
    this.#logLength = end
  }

  /** Never rejects: an older marker is true, too. */
  async #mark(): Promise<void> {
    await this.#marker.write(this.mvcc.revision).catch(() => undefined)
    this.#marking = undefined
  }

  /** Removes what follows the last frame. */
  async #cutLog(): Promise<void> {
    await this.#log.truncate(this.#logLength)
    this.#logSize = this.#logLength
  }

  /** Fences writes: a process whose lock file was deleted may share the folder with another one, which would damage the log. */
  #lockLost(): StorageError | undefined {
    if (this.#lock?.isHeld() !== false) return undefined
    this.#broken = new StorageError(
      'KW_STORAGE_WRITE',
      `Cannot write to ${this.#folder} as its lock file was deleted: restart the process and do not delete the file`,
    )
    return this.#broken
  }

  #record({ key, value }: Pending, revision: number): WalRecord {
    const createRevision = this.mvcc.newest(key)?.createRevision ?? revision
    return { type: value ? 'put' : 'delete', key, value: value ?? noValue, revision, createRevision }
  }

  /** Undoes a failed append, or marks the store as broken when it cannot be undone with certainty. */
  async #recoverFrom(error: unknown): Promise<StorageError> {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (recoverable.has(code)) {
      try {
        await this.#cutLog()
        return new StorageError(
          'KW_STORAGE_WRITE',
          `Cannot write to ${this.#folder} as the disk is full (${code}): free some space; nothing was written, and reads continue`,
          { cause: error, reason: `the disk is full (${code}), and nothing was stored` },
        )
      } catch {
        // Fall through: the file may end in a partial write.
      }
    }
    this.#broken = new StorageError(
      'KW_STORAGE_UNCERTAIN',
      `Cannot write to ${this.#folder} as the disk failed (${code || String(error)}): the last writes may or may not have been made; restart when the disk works again`,
      { cause: error, reason: 'the disk of the server failed, and writes fail until the server is restarted' },
    )
    return this.#broken
  }

  /** Never rejects: without the file, the present log goes on and the next commit tries again. */
  async #prepare(): Promise<void> {
    try {
      this.#prepared = await prepareLog(this.#disk)
    } catch {
      // The disk may be full.
    }
    this.#preparing = undefined
  }

  /** Starts a new log and, in the background, writes a snapshot of everything before it. Writes continue meanwhile. */
  async #rotate(prepared: PreparedLog): Promise<void> {
    this.#prepared = undefined
    const old = this.#log
    // At this revision, as no commit happens until this method has returned.
    const frozen = this.mvcc.freeze()
    try {
      this.#log = await startLog(this.#disk, prepared, frozen.revision)
    } catch {
      // Keep the old log; the next commit tries again.
      frozen[Symbol.dispose]()
      return
    }
    this.#logLength = headerSize
    this.#logSize = headerSize
    this.#snapshotting = this.#writeSnapshot(frozen, old)
      .catch(() => undefined)
      .finally(() => {
        frozen[Symbol.dispose]()
        this.#snapshotting = undefined
      })
  }

  /** Older files are deleted only after the complete snapshot has its final name: until then, recovery needs them. */
  async #writeSnapshot(frozen: FrozenState, old: DurableFile): Promise<void> {
    // Its contents are on the medium, so a failure to close it loses nothing.
    await old.close().catch(() => undefined)
    const { bytes } = await createSnapshot(this.#disk, frozen.revision, frozenPieces(frozen))
    this.#snapshotSize = bytes
    await removeOlder(this.#disk, frozen.revision)
  }
}

function* frozenPieces(frozen: FrozenState): Generator<readonly Entry[]> {
  for (;;) {
    const entries = frozen.next(frameEntries, frameBytes)
    if (entries.length === 0) return
    yield entries
  }
}

/** Removes the files that the snapshot at the revision replaces. */
async function removeOlder(disk: Disk, revision: number): Promise<void> {
  for (const name of await disk.list()) {
    const isOlderLog = name.startsWith('log-') && name < logName(revision)
    const isOlderSnapshot = name.startsWith('snapshot-') && name < snapshotName(revision)
    if (isOlderLog || isOlderSnapshot) await disk.remove(name)
  }
}

/**
 * Opens the store in the folder and creates it if necessary. Rejects with a {@link StorageError} when the folder is not
 * writable, is in use by another process, contains foreign files or is damaged.
 */
export async function openDurableStore(folder: string, options: DurableStoreOptions = {}): Promise<DurableStore> {
  try {
    return await open(folder, options)
  } catch (error) {
    const problem = error instanceof StorageError ? undefined : folderProblem(error)
    if (problem === undefined) throw error
    throw new StorageError(
      'KW_STORAGE_FOLDER',
      `Cannot open a store in ${resolve(folder)} as ${problem}: choose another folder or fix this one`,
      { cause: error },
    )
  }
}

async function open(folder: string, options: DurableStoreOptions): Promise<DurableStore> {
  const disk = options.disk ?? (await nodeDisk(folder))
  const lock = options.disk ? undefined : await lockFolder(folder)
  try {
    const recovered = await recover(disk, folder)
    // A killed process may have left the name of a snapshot that is not durable. The files that it replaces go after it is.
    await disk.sync()
    for (const name of recovered.obsolete) await disk.remove(name)
    const { mvcc, notes } = recovered
    const isOld = recovered.format < storeFormat
    const { log, length: logLength } = isOld ? await migrate(disk, recovered) : await openLog(disk, recovered)
    const marker = await Marker.open(disk, mvcc.revision).catch(async (error: unknown) => {
      await log.close().catch(() => undefined)
      throw error
    })
    const snapshotBytes = options.snapshotBytes ?? 64 * 1024 * 1024
    return new DurableStore({
      folder,
      disk,
      lock,
      mvcc,
      log,
      logLength,
      marker,
      snapshotBytes,
      snapshotSize: recovered.snapshotSize,
      history: options,
      notes: isOld ? [...notes, `converted from format ${recovered.format} to ${storeFormat}`] : notes,
    })
  } catch (error) {
    await lock?.[Symbol.asyncDispose]()
    throw error
  }
}

interface OpenedLog {
  readonly log: DurableFile
  readonly length: number
}

/** Opens the log to append to. */
async function openLog(disk: Disk, { mvcc, log: last }: Recovered): Promise<OpenedLog> {
  if (!last) return { log: await createLog(disk, mvcc.revision), length: headerSize }
  const log = await disk.open(last.name)
  try {
    // Cut off what a crash left after the last complete frame, so that the next frame follows it directly.
    await log.truncate(last.length)
    // After a failed write, the system may have the frame in its cache only and take it for written: write it again.
    if (last.lastFrame < last.length) {
      const file = await disk.openReader(last.name)
      const frame = file.read(last.lastFrame, last.length - last.lastFrame)
      await log.write(await frame.finally(() => file[Symbol.asyncDispose]()), last.lastFrame)
    }
    return { log, length: last.length }
  } catch (error) {
    await log.close().catch(() => undefined)
    throw error
  }
}

/**
 * Converts a folder of an older format. The order is that of a rotation, so a crash at any point leaves either the old files or the new
 * ones. A file of the same name has the same contents in the older format and is replaced.
 */
async function migrate(disk: Disk, { mvcc }: Recovered): Promise<OpenedLog> {
  const log = await createLog(disk, mvcc.revision)
  try {
    await createSnapshot(disk, mvcc.revision, piecesOf(mvcc.entries()))
    await removeOlder(disk, mvcc.revision)
    return { log, length: headerSize }
  } catch (error) {
    await log.close().catch(() => undefined)
    throw error
  }
}
