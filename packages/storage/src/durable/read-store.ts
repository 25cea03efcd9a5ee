import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { StorageError } from '../store/storage-error.ts'
import { existingDisk, FileChangedError } from './disk.ts'
import { type Recovered, recover } from './recover.ts'

/** How often a folder is read again, as a running server may replace its files at any time. */
const attempts = 5

/**
 * Reads the store in a folder without locking or changing it. The folder may be in use: the result then has every write that was
 * acknowledged before the call. Rejects when the folder has no store.
 */
export async function readStore(folder: string): Promise<Recovered> {
  const recovered = await readAgain(async () => {
    await assertFolder(folder)
    return recover(existingDisk(folder), folder)
  })
  if (!recovered.log) throw noStore(folder)
  return recovered
}

/** Calls a function that reads the folder again if it fails in a way that a replaced file explains. */
export async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const mayBeReplaced = error instanceof FileChangedError || code === 'ENOENT' || code === 'KW_STORAGE_CORRUPT'
      if (!mayBeReplaced || attempt === attempts) throw error
    }
  }
}

/** Rejects when there is no such folder. */
export async function assertFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw noStore(folder)
}

export function noStore(folder: string): StorageError {
  return new StorageError(
    'KW_STORAGE_FOLDER',
    `Cannot read ${resolve(folder)} as it contains no store: name the folder of the store`,
  )
}
