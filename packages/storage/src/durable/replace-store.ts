import { mkdir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolder } from '../folder/make-folder.ts'
import { StorageError } from '../store/storage-error.ts'
import type { Entry } from '../store/store.ts'
import { existingDisk, syncFolder } from './disk.ts'
import { restoreMarker } from './recover.ts'
import { createLog, createSnapshot, piecesOf } from './state-file.ts'

/** The contents of a store that replace those of a folder. */
export interface Replacement {
  readonly entries: Iterable<Entry>
  readonly revision: number
  /** The folder that the present files are moved to. Without it, a folder with files is an error. */
  readonly moveTo?: string | undefined
  /** Called before the store can be opened again. When it rejects, the folder stays marked as incomplete. */
  readonly beforeReady?: (() => Promise<void>) | undefined
}

/**
 * How far a restore or repair increases the revision. Clients may have seen revisions of writes that are lost: the new writes must not
 * get the same ones, or a watch that resumes at one of them would miss changes.
 */
export const revisionGap = 1_000_000_000

/**
 * Replaces the contents of a folder. The caller holds its lock. A marker file makes the store unusable until all files are in place, so
 * an interrupted replacement is never mistaken for a complete store.
 */
export async function replaceStore(
  folder: string,
  { entries, revision, moveTo, beforeReady }: Replacement,
): Promise<void> {
  const disk = existingDisk(folder)
  const names = (await disk.list()).filter((name) => name !== 'lock')
  const present = names.filter((name) => name !== restoreMarker)
  if (moveTo === undefined && names.some((name) => !name.endsWith('.tmp'))) {
    throw new StorageError(
      'KW_STORAGE_FOLDER',
      `Cannot restore into ${resolve(folder)} as it is not empty: choose another folder, or use --force to move its files away`,
    )
  }
  const marker = await disk.open(restoreMarker)
  await marker.close()
  if (moveTo !== undefined && present.length > 0) {
    await makeFolder(join(moveTo, '..'))
    await mkdir(moveTo, { mode: 0o700 })
    for (const name of present) await rename(join(folder, name), join(moveTo, name))
    await syncFolder(moveTo)
  } else for (const name of present) await disk.remove(name)
  await (await createLog(disk, revision)).close()
  await createSnapshot(disk, revision, piecesOf(entries))
  await beforeReady?.()
  await disk.remove(restoreMarker)
  await syncFolder(folder)
}
