import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../storage-error.ts'

/** Says which process holds a folder. The start time tells a process from a later one that got the same id. */
async function identity(pid: number): Promise<string | undefined> {
  try {
    // Field 22 of /proc/<pid>/stat is the start time; the name in field 2 may contain spaces and ends with a parenthesis.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    try {
      process.kill(pid, 0)
      return `${pid} ?`
    } catch (error) {
      // EPERM: it lives, but belongs to somebody else.
      return (error as NodeJS.ErrnoException).code === 'EPERM' ? `${pid} ?` : undefined
    }
  }
}

/** Folders that this very process has open: the file alone could not tell two stores of one process apart. */
const held = new Set<string>()

/** Takes the folder for this process, or says who has it. A lock left by a dead process is taken over. */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const file = join(folder, 'lock')
  const own = (await identity(process.pid)) ?? `${process.pid} ?`
  if (held.has(file)) throw locked(folder, process.pid)
  held.add(file)
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        const handle = await open(file, 'wx', 0o600)
        await handle.writeFile(own)
        await handle.close()
        return {
          async [Symbol.asyncDispose]() {
            await rm(file, { force: true })
            held.delete(file)
          },
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      const holder = await readFile(file, 'utf8').catch(() => '')
      const pid = Number.parseInt(holder, 10)
      if (Number.isInteger(pid) && holder !== own && (await identity(pid)) === holder) throw locked(folder, pid)
      await rm(file, { force: true })
    }
    throw new StorageError('KW_STORAGE_LOCKED', `Cannot lock ${folder} as other processes keep taking it`)
  } catch (error) {
    held.delete(file)
    throw error
  }
}

function locked(folder: string, pid: number): StorageError {
  return new StorageError(
    'KW_STORAGE_LOCKED',
    `Cannot open ${folder} as process ${pid} has it open: stop that process or choose another folder`,
  )
}
