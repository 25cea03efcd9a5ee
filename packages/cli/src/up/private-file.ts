import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@kubewright/storage'

/** Writes a file that only its owner may read, whole or not at all. Folders on the way are made, for the owner only. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await makeFolder(dirname(file))
  // A name of its own process: two that start at once must not write into each other's draft.
  const draft = `${file}.${process.pid}.tmp`
  try {
    await writeFile(draft, text, { mode: 0o600 })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    throw error
  }
}
