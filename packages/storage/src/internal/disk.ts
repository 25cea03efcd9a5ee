import { constants } from 'node:fs'
import { type FileHandle, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../make-folder.ts'

/** A file with positioned writes. When `write` or `truncate` resolves, its effect is on the medium. */
export interface DurableFile {
  write(data: Uint8Array, position: number): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

/** The operations on one folder that the durable store needs. Tests replace it to simulate disk failures. */
export interface Disk {
  list(): Promise<readonly string[]>
  read(name: string): Promise<Buffer>
  /** Opens a file for writing and creates it if it does not exist. */
  open(name: string): Promise<DurableFile>
  /** Renames a file and makes the new name durable. */
  rename(from: string, to: string): Promise<void>
  remove(name: string): Promise<void>
}

// With O_DSYNC, a write returns when its data is on the medium: one system call instead of write and sync.
const dsync = constants.O_DSYNC as number | undefined

class NodeFile implements DurableFile {
  readonly #handle: FileHandle

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async write(data: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < data.length; ) {
      const { bytesWritten } = await this.#handle.write(data, done, data.length - done, position + done)
      done += bytesWritten
    }
    if (dsync === undefined) await this.#handle.datasync()
  }

  async truncate(length: number): Promise<void> {
    await this.#handle.truncate(length)
    await this.#handle.datasync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** The real disk, limited to one folder. */
export async function nodeDisk(folder: string): Promise<Disk> {
  await makeFolder(folder)
  const path = (name: string): string => join(folder, name)
  const syncFolder = async (): Promise<void> => {
    const handle = await open(folder, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
  return {
    list: () => readdir(folder),
    read: (name) => readFile(path(name)),
    async open(name) {
      const flags = constants.O_RDWR | constants.O_CREAT | (dsync ?? 0)
      const file = new NodeFile(await open(path(name), flags, 0o600))
      await syncFolder()
      return file
    },
    async rename(from, to) {
      await rename(path(from), path(to))
      await syncFolder()
    },
    remove: (name) => rm(path(name), { force: true }),
  }
}
