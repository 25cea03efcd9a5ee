import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a folder with mode 0700, and its missing parents. Rejects when the system does not permit it. Node's
 * recursive mkdir loops forever when an existing parent cannot contain folders, as in /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await made(folder)) return
  await makeFolder(dirname(folder))
  if (await made(folder)) return
  // The parent exists now. If creation fails again, report its error.
  await mkdir(folder, { mode: 0o700 })
}

/** Returns false when the parent folder is missing. */
async function made(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The root always exists, so the recursion ends there.
    if (code === 'ENOENT' && dirname(folder) !== folder) return false
    // Some systems report another error than EEXIST for an existing folder.
    const existing = await stat(folder).catch(() => undefined)
    if (existing?.isDirectory()) return true
    throw error
  }
}
