import { link, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
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
      return codeOf(error) === 'EPERM' ? `${pid} ?` : undefined
    }
  }
}

/** Folders that this very process has open: the file alone could not tell two stores of one process apart. */
const held = new Set<string>()

/** Takes the folder for this process, or says who has it. A lock left by a dead process is taken over. */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  // The folder's one true name: a second store must not get in by another spelling.
  const file = join(await realpath(folder), 'lock')
  const own = (await identity(process.pid)) ?? `${process.pid} ?`
  if (held.has(file)) throw locked(folder, process.pid)
  held.add(file)
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      if (await create(file, own)) {
        return {
          async [Symbol.asyncDispose]() {
            await rm(file, { force: true })
            held.delete(file)
          },
        }
      }
      const holder = await readFile(file, 'utf8').catch(() => '')
      const pid = Number.parseInt(holder, 10)
      if (Number.isInteger(pid) && holder !== own && (await identity(pid)) === holder) throw locked(folder, pid)
      await removeStale(file, holder)
    }
    throw new StorageError('KW_STORAGE_LOCKED', `Cannot lock ${folder} as other processes keep taking it`)
  } catch (error) {
    held.delete(file)
    throw error
  }
}

/** Creates the lock with its content in one step, so that nobody can see it without; false when there is one. */
async function create(file: string, own: string): Promise<boolean> {
  const draft = `${file}-${process.pid}.tmp`
  try {
    await writeFile(draft, own, { mode: 0o600 })
    await link(draft, file)
    return true
  } catch (error) {
    // Gone: another process has just opened the folder and cleaned up.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false
    if (!withoutLinks.has(codeOf(error))) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return createWithoutLink(file, own)
}

/** What file systems without hard links answer. */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

async function createWithoutLink(file: string, own: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    await handle.writeFile(own)
    await handle.close()
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock if it is still the stale one: of several who find it, only one does, and a fresh lock is put back. */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}-stale-${process.pid}.tmp`
  try {
    await rename(file, aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file)
  } catch {
    // Somebody else was faster; the next attempt sees what they made of it.
  } finally {
    await rm(aside, { force: true })
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

function locked(folder: string, pid: number): StorageError {
  return new StorageError(
    'KW_STORAGE_LOCKED',
    `Cannot open ${folder} as process ${pid} has it open: stop that process or choose another folder`,
  )
}
