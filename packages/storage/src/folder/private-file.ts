import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from './make-folder.ts'

/** Writes a file that only its owner can read, atomically. Creates missing folders for the owner only. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await makeFolder(dirname(file))
  // With the process id, because two processes may write at the same time.
  const draft = `${file}.${process.pid}.tmp`
  try {
    // A new file: a link or a file of another user in its place is not written to.
    await rm(draft, { force: true })
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}
