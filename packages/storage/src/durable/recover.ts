import { Mvcc } from '../memory/mvcc.ts'
import { StorageError } from '../store/storage-error.ts'
import type { Disk, FileReader } from './disk.ts'
import { markerName, readMarker } from './marker.ts'
import { frameProblem, isKey, isRevision, readHeader, readState } from './state-file.ts'
import { readFrames, storeFormat, type WalRecord } from './wal-format.ts'

const filePattern = /^(log|snapshot)-(\d{16})$/

/** A file that exists while a restore replaces the contents of the folder. */
export const restoreMarker = 'restore.incomplete'

/** The files of a folder, by kind, in the order of their revisions. */
export interface StoreFiles {
  readonly logs: readonly string[]
  readonly snapshots: readonly string[]
  /** What a crash left behind. */
  readonly drafts: readonly string[]
}

/** The contents of a folder, and the file to continue writing. */
export interface Recovered {
  readonly mvcc: Mvcc
  /**
   * The log to append to, the position of its last frame and the length of its complete part; undefined in a new folder. The last
   * frame of a log without writes is empty.
   */
  readonly log: { readonly name: string; readonly lastFrame: number; readonly length: number } | undefined
  /** Files that a newer snapshot replaced. */
  readonly obsolete: readonly string[]
  /** The oldest format of the files that were read. */
  readonly format: number
  /** The size of the snapshot in bytes. */
  readonly snapshotSize: number
  /** What was dropped, a line each. */
  readonly notes: readonly string[]
}

/**
 * Rebuilds the state from the newest snapshot and the logs after it. An incomplete write at the end of the newest log
 * was never acknowledged and is dropped. Any other inconsistency throws `KW_STORAGE_CORRUPT`, because it may hide
 * acknowledged writes. Reads only, so it may also be called for a folder that a server has open: the result then has every
 * write that was acknowledged before the call.
 */
export async function recover(disk: Disk, folder: string): Promise<Recovered> {
  // Before the logs, which a running server may append to: they reach the revision of the marker at this moment.
  const marker = await readMarker(disk)
  if (marker === undefined) throw damaged(folder, `${markerName} is damaged`)
  if (typeof marker === 'object') throw newerFormat(folder, markerName, marker.newer)
  const recovered = await recoverFiles(disk, folder)
  const { revision } = recovered.mvcc
  if (revision < marker) throw damaged(folder, missingWrites(revision, marker))
  return recovered
}

/** Says how much is missing, worded to follow "as". */
export const missingWrites = (revision: number, marker: number): string =>
  `its files end at revision ${revision}, but it has had revision ${marker}: at least ${marker - revision} writes are missing`

async function recoverFiles(disk: Disk, folder: string): Promise<Recovered> {
  const { logs, snapshots, drafts } = await listFiles(disk, folder)
  const snapshot = snapshots.at(-1)
  if (snapshot === undefined && logs.length === 0)
    return { mvcc: new Mvcc(), log: undefined, obsolete: drafts, format: storeFormat, snapshotSize: 0, notes: [] }

  const base = snapshot === undefined ? undefined : await readSnapshot(disk, folder, snapshot)
  const mvcc = base?.mvcc ?? new Mvcc()
  const first = logs.findLastIndex((name) => revisionOf(name) <= mvcc.revision)
  // The log is created before the snapshot: without it, the writes after the snapshot are lost.
  if (snapshot !== undefined && (first < 0 || revisionOf(logs[first]!) !== mvcc.revision)) {
    throw damaged(folder, `the log after ${snapshot} is missing`)
  }
  const needed = logs.slice(Math.max(0, first))
  const files = await openAll(disk, needed)
  try {
    const replayed = await replayAll(files, folder, mvcc)
    const keep = new Set([...replayed.used, ...(snapshot === undefined ? [] : [snapshot])])
    const obsolete = [...logs, ...snapshots].filter((name) => !keep.has(name))
    const format = Math.min(base?.format ?? storeFormat, replayed.format)
    const { last: log, notes } = replayed
    return { mvcc, log, obsolete: [...obsolete, ...drafts], format, snapshotSize: base?.size ?? 0, notes }
  } finally {
    await closeAll(files)
  }
}

interface Replayed {
  readonly last: Recovered['log']
  readonly used: readonly string[]
  readonly format: number
  readonly notes: readonly string[]
}

/** Applies consecutive logs. */
async function replayAll(files: readonly OpenFile[], folder: string, mvcc: Mvcc): Promise<Replayed> {
  const used: string[] = []
  const notes: string[] = []
  let format = storeFormat
  let last: Recovered['log']
  for (const [i, { name, file }] of files.entries()) {
    const isNewest = files.slice(i + 1).every((later) => isUnwritten(later.file))
    if (i > 0 && isNewest && isUnwritten(file)) {
      // A crash while the log was created: the log before it is the newest one. That one must end where this one starts.
      if (revisionOf(name) > mvcc.revision) throw gap(folder, mvcc.revision, revisionOf(name))
      if (file.size < 16) notes.push(`${name}: ignored, as its header is incomplete`)
      continue
    }
    const log = await replay(file, { folder, name, mvcc, isNewest })
    if (log.dropped > 0)
      notes.push(`${name}: dropped ${log.dropped} bytes of an incomplete write at byte ${log.length}`)
    format = Math.min(format, log.format)
    last = { name, lastFrame: log.lastFrame, length: log.length }
    used.push(name)
  }
  return { last, used, format, notes }
}

/** Lists the files of a store. Throws if there are others, as the folder may be that of another program. */
export async function listFiles(disk: Disk, folder: string): Promise<StoreFiles> {
  const names = [...(await disk.list())].filter((name) => name !== 'lock' && name !== markerName).sort()
  if (names.includes(restoreMarker)) {
    throw new StorageError(
      'KW_STORAGE_CORRUPT',
      `Cannot open ${folder} as a restore was interrupted: run kubewright restore again, with --force`,
    )
  }
  const drafts = names.filter((name) => name.endsWith('.tmp'))
  const files = names.filter((name) => !name.endsWith('.tmp'))
  const foreign = files.find((name) => !filePattern.test(name))
  if (foreign !== undefined) {
    throw new StorageError(
      'KW_STORAGE_CORRUPT',
      `Cannot open ${folder} as it contains ${foreign}, which does not belong to this store: choose an empty folder`,
    )
  }
  return {
    logs: files.filter((name) => name.startsWith('log-')),
    snapshots: files.filter((name) => name.startsWith('snapshot-')),
    drafts,
  }
}

/** The revision in the name of a file. */
export const revisionOf = (name: string): number => Number(filePattern.exec(name)![2])

/** Whether a log has no frame. */
const isUnwritten = ({ size }: FileReader): boolean => size <= 20

/** A log that is open for reading. */
interface OpenFile {
  readonly name: string
  readonly file: FileReader
}

/** Opens all files first: a running server may delete them at any time, and open ones stay readable. */
async function openAll(disk: Disk, names: readonly string[]): Promise<readonly OpenFile[]> {
  const files: OpenFile[] = []
  try {
    for (const name of names) files.push({ name, file: await disk.openReader(name) })
    return files
  } catch (error) {
    await closeAll(files)
    throw error
  }
}

async function closeAll(files: readonly OpenFile[]): Promise<void> {
  for (const { file } of files) await file[Symbol.asyncDispose]()
}

async function readSnapshot(
  disk: Disk,
  folder: string,
  name: string,
): Promise<{ mvcc: Mvcc; format: number; size: number }> {
  const file = await disk.openReader(name)
  const state = await readState(file, 'snapshot').finally(() => file[Symbol.asyncDispose]())
  if ('newer' in state) throw newerFormat(folder, name, state.newer)
  if ('why' in state) throw damaged(folder, `${name} is damaged at byte ${state.offset} (${state.why})`)
  const { header, entries } = state
  if (header.revision !== revisionOf(name)) throw damaged(folder, `${name} is the snapshot of ${header.revision}`)
  return { mvcc: new Mvcc({ entries, revision: header.revision }), format: header.format, size: file.size }
}

interface Replay {
  readonly folder: string
  readonly name: string
  readonly mvcc: Mvcc
  readonly isNewest: boolean
}

/** Applies a log. Returns the length of its complete part, and of an incomplete write behind it, in bytes. */
async function replay(
  file: FileReader,
  { folder, name, mvcc, isNewest }: Replay,
): Promise<{ lastFrame: number; length: number; format: number; dropped: number }> {
  const header = await readHeader(file, 'log')
  if (header === undefined) throw damaged(folder, `${name} is not a log of this store`)
  if ('newer' in header) throw newerFormat(folder, name, header.newer)
  if (header.revision !== revisionOf(name)) throw damaged(folder, `${name} is the log of ${header.revision}`)
  if (header.revision > mvcc.revision) throw gap(folder, mvcc.revision, header.revision)
  let problem: string | undefined
  let lastFrame: number | undefined
  const values = new CopiedValues()
  const end = await readFrames(file, header.size, (records, position) => {
    lastFrame = position
    for (const record of records) {
      if (problem !== undefined) return
      problem = recordProblem(mvcc, record)
      if (problem === undefined)
        mvcc.publish({ key: record.key, value: record.type === 'put' ? values.copy(record.value) : undefined })
    }
  })
  if (problem !== undefined) throw damaged(folder, `${name} ${problem}`)
  const bad = end.kind === 'torn' && isNewest ? undefined : frameProblem(end)
  if (bad) throw damaged(folder, `${name} is damaged at byte ${bad.offset} (${bad.why})`)
  const length = end.kind === 'corrupt' ? end.offset : end.length
  return {
    lastFrame: lastFrame ?? length,
    length,
    format: header.format,
    dropped: end.kind === 'torn' ? end.dropped : 0,
  }
}

const slabBytes = 64 * 1024

/**
 * Copies the values of a log into slabs. Later writes replace most values of a log, and the others must not keep the large pieces in
 * memory in which it is read. An allocation for each value would take several times as long.
 */
class CopiedValues {
  #slab = Buffer.allocUnsafeSlow(slabBytes)
  #used = 0

  copy(value: Uint8Array): Uint8Array {
    if (value.length > slabBytes / 4) return value.slice()
    if (this.#used + value.length > slabBytes) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes)
      this.#used = 0
    }
    this.#slab.set(value, this.#used)
    const copy = new Uint8Array(this.#slab.buffer, this.#used, value.length)
    this.#used += value.length
    return copy
  }
}

/** Why a record cannot follow the state, worded to follow the name of the file; undefined if it can. */
export function recordProblem(
  state: Pick<Mvcc, 'revision' | 'newest'>,
  { type, key, revision, createRevision }: WalRecord,
): string | undefined {
  if (revision !== state.revision + 1 || !isRevision(revision))
    return `jumps from revision ${state.revision} to ${revision}`
  if (type !== 'put' && type !== 'delete') return `has a record of the type ${type} at revision ${revision}`
  if (!isKey(key)) return `has the invalid key ${JSON.stringify(key)} at revision ${revision}`
  const current = state.newest(key)
  if (type === 'delete' && !current) return `deletes ${key} at revision ${revision}, which does not exist`
  const created = current?.createRevision ?? revision
  if (createRevision === created) return undefined
  return `states ${createRevision} as the create revision of ${key}, which is ${created}`
}

const gap = (folder: string, from: number, to: number): StorageError =>
  damaged(folder, `the log between revisions ${from} and ${to} is missing`)

function damaged(folder: string, what: string): StorageError {
  return new StorageError(
    'KW_STORAGE_CORRUPT',
    `Cannot open ${folder} as ${what}: restore the folder from a backup, or run kubewright check`,
  )
}

/** The error for a file that a newer version wrote. */
export function newerFormat(folder: string, name: string, format: number): StorageError {
  return new StorageError(
    'KW_STORAGE_FORMAT',
    `Cannot open ${folder} as ${name} has format ${format}, and this version of kubewright reads formats up to ${storeFormat}: use the newer version that wrote it`,
  )
}
