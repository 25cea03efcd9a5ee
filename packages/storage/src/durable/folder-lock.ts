import { fstatSync } from 'node:fs'
import { constants, type FileHandle, open, readFile, readlink, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../store/storage-error.ts'

/** An exclusive lock on a folder. */
export interface FolderLock extends AsyncDisposable {
  /** Whether the lock file is still in place. A writer that lost it must stop: another process may have locked a new file. */
  isHeld(): boolean
}

/** The folders that this process has open. A lock of the operating system may not distinguish two stores of one process. */
const held = new Set<string>()

/**
 * Locks the folder for this process. Rejects when another process holds it, also one in another PID namespace, such as a second
 * container on the same volume. The operating system releases the lock when the process ends, however it ends.
 *
 * Where the system offers no lock (no `flock` command), the file names the process that holds it. That process is only visible in the
 * same PID namespace; a lock of another namespace is never taken over.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  // Resolve links, so that a second store cannot open the same folder by another path.
  const file = join(await realpath(folder), 'lock')
  if (held.has(file)) throw locked(folder, `process ${process.pid}`)
  held.add(file)
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      const handle = await lockFile(folder, file)
      if (handle) return folderLock(file, handle)
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

/** One attempt; undefined when the previous holder removed the file meanwhile. Rejects when another process holds the lock. */
async function lockFile(folder: string, file: string): Promise<FileHandle | undefined> {
  const handle = await openLocked(file)
  if (!handle) throw locked(folder, await describeHolder(await readFile(file, 'utf8').catch(() => '')))
  try {
    const before = parseHolder((await handle.handle.readFile()).toString('utf8'))
    if (!handle.bySystem && before && (await mayBeAlive(before)))
      throw locked(folder, await describeHolder(before.text))
    // The holder deletes the file before it releases the lock: a lock on a deleted file excludes no other process.
    const current = await stat(file).catch(() => undefined)
    const own = fstatSync(handle.handle.fd)
    if (!current || current.ino !== own.ino || current.dev !== own.dev) {
      await handle.handle.close()
      return undefined
    }
    const text = await ownIdentity()
    await handle.handle.truncate(0)
    await handle.handle.write(text, 0, 'utf8')
    return handle.handle
  } catch (error) {
    await handle.handle.close().catch(() => undefined)
    throw error
  }
}

function folderLock(file: string, handle: FileHandle): FolderLock {
  let disposed = false
  return {
    isHeld: () => !disposed && fstatSync(handle.fd).nlink > 0,
    async [Symbol.asyncDispose]() {
      if (disposed) return
      const isOurs = fstatSync(handle.fd).nlink > 0
      disposed = true
      // Delete before closing: see lockFile().
      if (isOurs) await rm(file, { force: true })
      await handle.close()
      held.delete(file)
    },
  }
}

interface OpenedLock {
  readonly handle: FileHandle
  /** Whether the operating system holds the lock. */
  readonly bySystem: boolean
}

/** `O_EXLOCK` of macOS and the BSDs: opening the file locks it. Node does not name the constant. */
const exclusiveLock = 0x20

/** Opens the file and takes the lock of the operating system; undefined when another process has it. */
async function openLocked(file: string): Promise<OpenedLock | undefined> {
  // A link in the place of the file could lead to a file of another program, which would be emptied. Undefined on Windows.
  const noFollow = (constants.O_NOFOLLOW as number | undefined) ?? 0
  const flags = constants.O_RDWR | constants.O_CREAT | noFollow
  if (process.platform === 'darwin' || process.platform === 'freebsd') {
    try {
      return { handle: await open(file, flags | exclusiveLock | constants.O_NONBLOCK, 0o600), bySystem: true }
    } catch (error) {
      if (codeOf(error) === 'EAGAIN' || codeOf(error) === 'EWOULDBLOCK') return undefined
      if (codeOf(error) !== 'ENOTSUP' && codeOf(error) !== 'EOPNOTSUPP') throw error
    }
  }
  const handle = await open(file, flags, 0o600)
  const outcome = flock(handle.fd)
  if (outcome !== 'taken') return { handle, bySystem: outcome === 'locked' }
  await handle.close()
  return undefined
}

/**
 * Locks an open file with flock(2). Node offers no such call, so the `flock` command makes it on an inherited descriptor: the lock
 * belongs to the open file, which stays open here after the command has ended.
 */
function flock(descriptor: number): 'locked' | 'taken' | 'unsupported' {
  if (process.platform === 'win32') return 'unsupported'
  const result = process.getBuiltinModule('node:child_process').spawnSync('flock', ['-n', '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: 10_000,
  })
  if (result.error) return 'unsupported'
  return result.status === 0 ? 'locked' : result.status === 1 ? 'taken' : 'unsupported'
}

/** A process as the lock file names it: `PID START NAMESPACE`. */
interface Holder {
  readonly text: string
  readonly pid: number
  readonly start: string
  readonly namespace: string
}

function parseHolder(text: string): Holder | undefined {
  const [pid = '', start = '?', namespace = ''] = text.trim().split(' ')
  return /^\d+$/.test(pid) ? { text, pid: Number(pid), start, namespace } : undefined
}

async function describeHolder(text: string): Promise<string> {
  const holder = parseHolder(text)
  if (!holder) return 'another process'
  const isForeign = holder.namespace !== '' && holder.namespace !== (await pidNamespace())
  return `process ${holder.pid}${isForeign ? ' of another container' : ''}`
}

async function ownIdentity(): Promise<string> {
  return `${process.pid} ${(await startOf(process.pid)) ?? '?'} ${await pidNamespace()}`
}

/** Identifies the PID namespace on this machine since its last boot; empty where there are no namespaces. */
async function pidNamespace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return namespace === '' ? '' : `${boot.trim()}/${namespace}`
}

/** Whether the holder may still run. A process of another PID namespace cannot be seen, so it counts as running. */
async function mayBeAlive(holder: Holder): Promise<boolean> {
  if (holder.namespace !== '' && holder.namespace !== (await pidNamespace())) return true
  if (holder.pid === process.pid) return false
  const start = await startOf(holder.pid)
  return start !== undefined && (start === '?' || start === holder.start)
}

/** When a process started, so that a later process with the same id is not mistaken for it; undefined when it does not run. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    // Field 22 of /proc/<pid>/stat is the start time; the name in field 2 may contain spaces and ends with a parenthesis.
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    try {
      process.kill(pid, 0)
      return '?'
    } catch (error) {
      // EPERM: the process exists, but belongs to another user.
      return codeOf(error) === 'EPERM' ? '?' : undefined
    }
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

function locked(folder: string, holder: string): StorageError {
  return new StorageError(
    'KW_STORAGE_LOCKED',
    `Cannot open ${folder} as ${holder} has it open: stop that process or choose another folder`,
  )
}
