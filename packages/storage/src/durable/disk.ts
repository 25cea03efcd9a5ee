import { constants, write as writeFile } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CaughtError } from '@kubewright/base'
import { makeFolder } from '../folder/make-folder.ts'
import type { FrameSource } from './wal-format.ts'

/** Makes the names of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A file with positioned writes. When `write` or `truncate` resolves, its effect is on the medium. */
export interface DurableFile {
  write(data: Uint8Array, position: number): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

/** A file that is open for reading. Its size is that of the moment when it was opened. */
export interface FileReader extends FrameSource, AsyncDisposable {}

/** The operations on one folder that the durable store needs. Tests replace it to simulate disk failures. */
export interface Disk {
  list(): Promise<readonly string[]>
  openReader(name: string): Promise<FileReader>
  /** Opens a file for writing and creates it if it does not exist. */
  open(name: string): Promise<DurableFile>
  /** Renames a file and makes the new name durable. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file. Its name may return after a power failure, until the next sync of names. */
  remove(name: string): Promise<void>
  /** Makes all names durable. */
  sync(): Promise<void>
}

// With O_DSYNC, a write returns when its data is on the medium: one system call instead of write and sync.
const dsync = constants.O_DSYNC as number | undefined

class NodeFile implements DurableFile {
  readonly #handle: FileHandle

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async write(data: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < data.length; ) done += await this.#writePart(data, done, position + done)
    if (dsync === undefined) await this.#handle.datasync()
  }

  /** Resolves to the number of bytes written. By a callback, because the promises of a file handle cost as much as the rest of a write. */
  #writePart(data: Uint8Array, start: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      writeFile(this.#handle.fd, data, start, data.length - start, position, (error, bytes) => {
        if (error) reject(error)
        else resolve(bytes)
      })
    })
  }

  async truncate(length: number): Promise<void> {
    await this.#handle.truncate(length)
    await this.#handle.datasync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

// Undefined on Windows. A link in the place of a file could lead anywhere.
const noFollow = (constants.O_NOFOLLOW as number | undefined) ?? 0
const writeFlags = constants.O_RDWR | constants.O_CREAT | noFollow | (dsync ?? 0)

/** Opens a file for writing, readable by its owner only, and creates it if it does not exist. Its name may not be durable yet. */
export async function openDurableFile(path: string): Promise<DurableFile> {
  return new NodeFile(await open(path, writeFlags, 0o600))
}

/** As {@link openDurableFile}, for a new file. What has its name is removed; when another process creates it meanwhile, this rejects. */
export async function createDurableFile(path: string): Promise<DurableFile> {
  await rm(path, { force: true })
  return new NodeFile(await open(path, writeFlags | constants.O_EXCL, 0o600))
}

/** Opens a file for reading. It stays readable when another process deletes it meanwhile. */
export async function openReader(path: string): Promise<FileReader> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    const { size } = await handle.stat()
    return {
      size,
      async read(position, length) {
        const data = Buffer.allocUnsafe(length)
        for (let done = 0; done < length; ) {
          // One call reads less than 2 GiB.
          const { bytesRead } = await handle.read(data, done, Math.min(length - done, 1 << 30), position + done)
          if (bytesRead === 0) throw new FileChangedError(path)
          done += bytesRead
        }
        return data
      },
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A file became shorter while it was read. */
export class FileChangedError extends CaughtError {
  constructor(path: string) {
    super(`${path} was changed while it was read`)
    this.name = 'FileChangedError'
  }
}

/** Creates the folder if necessary, and returns the disk that is limited to it. */
export async function nodeDisk(folder: string): Promise<Disk> {
  await makeFolder(folder)
  return existingDisk(folder)
}

/** The disk of a folder that exists. */
export function existingDisk(folder: string): Disk {
  const path = (name: string): string => join(folder, name)
  return {
    list: () => readdir(folder),
    openReader: (name) => openReader(path(name)),
    async open(name) {
      const file = await openDurableFile(path(name))
      await syncFolder(folder)
      return file
    },
    async rename(from, to) {
      await rename(path(from), path(to))
      await syncFolder(folder)
    },
    remove: (name) => rm(path(name), { force: true }),
    sync: () => syncFolder(folder),
  }
}
