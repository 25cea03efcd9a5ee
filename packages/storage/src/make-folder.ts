import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder that only its owner may enter, and those on the way to it. Fails where the system refuses one: Node's own recursive
 * way tries forever when a folder that exists takes no others, as in /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await made(folder)) return
  await makeFolder(dirname(folder))
  if (await made(folder)) return
  // The folder above is there now, and still has no room for this one.
  await mkdir(folder, { mode: 0o700 })
}

/** False when the folder above is missing. */
async function made(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The root exists, so that this ends there at the latest.
    if (code === 'ENOENT' && dirname(folder) !== folder) return false
    // Some systems refuse before they look whether it is there.
    const existing = await stat(folder).catch(() => undefined)
    if (existing?.isDirectory()) return true
    throw error
  }
}
