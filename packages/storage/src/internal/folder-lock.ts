import { link, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../storage-error.ts'

/** Identifies a process by its id and start time, so that a later process with the same id is not mistaken for it. */
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
      // EPERM: the process exists, but belongs to another user.
      return codeOf(error) === 'EPERM' ? `${pid} ?` : undefined
    }
  }
}

/** The folders that this process has open. The lock file alone cannot distinguish two stores of one process. */
const held = new Set<string>()

/**
 * Locks the folder for this process. Rejects with the id of the process that holds it. The lock of a dead process is
 * taken over.
 */
export async function lockFolder(folder: string): Promise<AsyncDisposable> {
  // Resolve links, so that a second store cannot open the same folder by another path.
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
    throw new StorageError(
      'KW_STORAGE_LOCKED',
      `Cannot lock ${folder} as other processes keep locking it: try again later or choose another folder`,
    )
  } catch (error) {
    held.delete(file)
    throw error
  }
}

/** Creates the lock together with its content, so that no process sees it empty. Returns false when a lock exists. */
async function create(file: string, own: string): Promise<boolean> {
  const draft = `${file}-${process.pid}.tmp`
  try {
    await writeFile(draft, own, { mode: 0o600 })
    await link(draft, file)
    return true
  } catch (error) {
    // ENOENT: another process has opened the folder meanwhile and removed the temporary file.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') return false
    if (!withoutLinks.has(codeOf(error))) throw error
  } finally {
    await rm(draft, { force: true })
  }
  return createWithoutLink(file, own)
}

/** Error codes of file systems without hard links. */
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

/**
 * Removes the lock only if it is still the stale one. Of several concurrent processes only one does; a new lock is
 * restored.
 */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}-stale-${process.pid}.tmp`
  try {
    await rename(file, aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file)
  } catch {
    // Another process was faster; the next attempt sees its result.
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
