import { rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { makeFolder } from '../folder/make-folder.ts'
import { StorageError } from '../store/storage-error.ts'
import type { Entry } from '../store/store.ts'
import { createDurableFile, type FileReader, openReader, syncFolder } from './disk.ts'
import { lockFolder } from './folder-lock.ts'
import { readStore } from './read-store.ts'
import { replaceStore, revisionGap } from './replace-store.ts'
import { type AttachedFile, piecesOf, readState, writeState } from './state-file.ts'
import { storeFormat } from './wal-format.ts'

export type { AttachedFile } from './state-file.ts'

/** What a backup has. */
export interface BackupSummary {
  /** The newest revision. The backup has the state of the store at it. */
  readonly revision: number
  readonly entries: number
  readonly bytes: number
}

/** A backup in memory. */
export interface Backup {
  readonly format: number
  readonly revision: number
  readonly entries: readonly Entry[]
  /** The files that {@link backUpStore} was given. */
  readonly attached: readonly AttachedFile[]
}

/**
 * Writes the state of the store in a folder to a file. The store may be in use, by this process or another one: the backup then has
 * every write that was acknowledged before the call, and is the state at one revision. The file has its name only when it is complete
 * and on the medium; an existing file is replaced.
 */
export async function backUpStore(
  folder: string,
  file: string,
  attached: readonly AttachedFile[] = [],
): Promise<BackupSummary> {
  const { mvcc } = await readStore(folder)
  const draft = `${file}.${process.pid}.tmp`
  const output = await createDurableFile(draft)
  try {
    const { revision } = mvcc
    const written = await writeState(output, 'backup', revision, piecesOf(mvcc.entries()), attached)
    await output.close()
    await rename(draft, file)
    await syncFolder(dirname(resolve(file)))
    return { revision, ...written }
  } catch (error) {
    await output.close().catch(() => undefined)
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Reads a backup and verifies all of it. Rejects with a {@link StorageError} when it is damaged, or of a newer format. */
export async function readBackup(file: string): Promise<Backup> {
  const source: FileReader = await openReader(file)
  const state = await readState(source, 'backup').finally(() => source[Symbol.asyncDispose]())
  if ('newer' in state) {
    throw new StorageError(
      'KW_STORAGE_FORMAT',
      `Cannot read ${file} as it has format ${state.newer}, and this version of kubewright reads formats up to ${storeFormat}: use the newer version that wrote it`,
    )
  }
  if ('why' in state) {
    throw new StorageError(
      'KW_STORAGE_CORRUPT',
      `Cannot read ${file} as it is damaged at byte ${state.offset} (${state.why}), or not a backup: use another backup`,
    )
  }
  const { header, entries, attached } = state
  return { format: header.format, revision: header.revision, entries, attached }
}

/** Options of {@link restoreStore}. */
export interface RestoreOptions {
  /** The new folder that files of the present store are moved to. Without it, a folder that is not empty is an error. */
  readonly moveTo?: string | undefined
  /** Called while the folder is locked, before the store can be opened. When it rejects, the restore is incomplete. */
  readonly beforeReady?: (() => Promise<void>) | undefined
}

/**
 * Makes a store of a backup in a folder, and creates the folder if necessary. Entries keep their revisions. The revision of the store
 * increases by a large number, because clients may have seen later revisions than that of the backup. Rejects when a process has the
 * store open. A restore that is interrupted leaves a folder that cannot be opened; restore again to complete it.
 */
export async function restoreStore(
  folder: string,
  backup: Backup,
  options: RestoreOptions = {},
): Promise<{ readonly revision: number }> {
  await makeFolder(folder)
  const lock = await lockFolder(folder)
  try {
    const revision = backup.revision + revisionGap
    await replaceStore(folder, { entries: backup.entries, revision, ...options })
    return { revision }
  } finally {
    await lock[Symbol.asyncDispose]()
  }
}
