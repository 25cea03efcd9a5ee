import { StorageError } from '../store/storage-error.ts'
import type { Entry } from '../store/store.ts'
import { existingDisk } from './disk.ts'
import { lockFolder } from './folder-lock.ts'
import { assertFolder, noStore, readAgain } from './read-store.ts'
import { listFiles, recover, revisionOf } from './recover.ts'
import { replaceStore, revisionGap } from './replace-store.ts'
import { type Loss, salvage } from './salvage.ts'
import { scanFile } from './scan-file.ts'

export type { Loss } from './salvage.ts'

/** One file of a store, as {@link checkStore} found it. */
export interface CheckedFile {
  readonly name: string
  readonly kind: 'log' | 'snapshot'
  /** Undefined when the header is damaged. */
  readonly format: number | undefined
  readonly bytes: number
  /** The records that can be read. */
  readonly records: number
  /** What is damaged, a sentence each. */
  readonly problems: readonly string[]
}

/** The result of {@link checkStore}. */
export interface StoreCheck {
  readonly files: readonly CheckedFile[]
  /** The damage, a sentence each. Empty for a store that can be opened. */
  readonly problems: readonly string[]
  /** What opening the store would drop or change, a sentence each. No acknowledged write is affected. */
  readonly notes: readonly string[]
  /** The newest state; undefined when the store is damaged. */
  readonly state: { readonly revision: number; readonly entries: readonly Entry[] } | undefined
}

/**
 * Verifies the store in a folder: the checksums of all files, the order of keys and revisions, and that each record fits the ones before
 * it. Changes nothing and takes no lock; the store may be in use.
 */
export async function checkStore(folder: string): Promise<StoreCheck> {
  await assertFolder(folder)
  let last: StoreCheck | undefined
  // A running server may replace files while they are read, so a problem counts only if it stays.
  for (let attempt = 0; attempt < 3; attempt++) {
    last = await readAgain(() => checkOnce(folder))
    if (last.problems.length === 0) break
  }
  return last!
}

async function checkOnce(folder: string): Promise<StoreCheck> {
  const disk = existingDisk(folder)
  const { logs, snapshots } = await listFiles(disk, folder)
  if (logs.length + snapshots.length === 0) throw noStore(folder)
  const files: CheckedFile[] = []
  for (const name of snapshots) files.push(await checkFile(folder, name, 'snapshot'))
  for (const name of logs) files.push(await checkFile(folder, name, 'log'))
  try {
    const { mvcc, notes } = await recover(disk, folder)
    const state = { revision: mvcc.revision, entries: [...mvcc.entries()] }
    // A damaged file that is not needed any more is no problem: opening the store removes it.
    const unneeded = files.flatMap(({ name, problems }) => problems.map((text) => `${name}: ${text}; it is not needed`))
    return { files, problems: [], notes: [...notes, ...unneeded], state }
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'KW_STORAGE_CORRUPT') throw error
    const found = files.flatMap(({ name, problems }) => problems.map((text) => `${name}: ${text}`))
    return { files, problems: found.length > 0 ? found : [error.message], notes: [], state: undefined }
  }
}

async function checkFile(folder: string, name: string, kind: 'log' | 'snapshot'): Promise<CheckedFile> {
  const source = await existingDisk(folder).openReader(name)
  let records = 0
  try {
    const scanned = await scanFile(source, kind, (all) => {
      records += all.length
    })
    const problems = scanned.damages.map(({ offset, why }) => `damaged at byte ${offset} (${why})`)
    const { header } = scanned
    if (scanned.newer !== undefined)
      problems.push(`has format ${scanned.newer}, which is newer than this version reads`)
    if (header && header.revision !== revisionOf(name)) problems.push(`has the header of revision ${header.revision}`)
    if (kind === 'snapshot' && scanned.torn !== undefined) problems.push(`ends too early, at byte ${scanned.torn}`)
    return { name, kind, format: header?.format ?? scanned.newer, bytes: source.size, records, problems }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** The result of {@link repairStore}. */
export interface StoreRepair {
  /** The revision of the repaired store. */
  readonly revision: number
  readonly entries: number
  /** What could not be recovered. */
  readonly losses: readonly Loss[]
  /** The folder with the files as they were. */
  readonly movedTo: string
}

/**
 * Rebuilds a damaged store from what is provably complete: the newest intact snapshot with all writes up to the first damage of the logs
 * after it, or the intact parts of a snapshot that cannot be replaced by older files. The present files are moved to the folder `moveTo`.
 * Resolves to undefined, and changes nothing, when the store is not damaged. Rejects when a process has the store open.
 */
export async function repairStore(folder: string, moveTo: string): Promise<StoreRepair | undefined> {
  await assertFolder(folder)
  const lock = await lockFolder(folder)
  try {
    const { problems } = await checkStore(folder)
    if (problems.length === 0) return undefined
    const { entries, newest, losses } = await salvage(existingDisk(folder), folder)
    const revision = newest + revisionGap
    await replaceStore(folder, { entries, revision, moveTo })
    return { revision, entries: entries.length, losses, movedTo: moveTo }
  } finally {
    await lock[Symbol.asyncDispose]()
  }
}
