import { StorageError } from '../storage-error.ts'
import type { Entry } from '../store.ts'
import type { Disk } from './disk.ts'
import { Mvcc } from './mvcc.ts'
import { decodeFrames, decodeHeader, headerSize, logMagic, snapshotMagic } from './wal-format.ts'

const filePattern = /^(log|snapshot)-(\d{16})$/

/** File names contain the start revision, so sorting the names sorts the files. */
export const logName = (revision: number): string => `log-${String(revision).padStart(16, '0')}`
export const snapshotName = (revision: number): string => `snapshot-${String(revision).padStart(16, '0')}`

/** The contents of a folder, and the file to continue writing. */
export interface Recovered {
  readonly mvcc: Mvcc
  /** The log to append to and the length of its complete part; undefined in a new folder. */
  readonly log: { readonly name: string; readonly length: number } | undefined
  /** Files that a newer snapshot replaced. */
  readonly obsolete: readonly string[]
}

/**
 * Rebuilds the state from the newest snapshot and the logs after it. An incomplete write at the end of the newest log
 * was never acknowledged and is dropped. Any other inconsistency throws `KW_STORAGE_CORRUPT`, because it may hide
 * acknowledged writes.
 */
export async function recover(disk: Disk, folder: string): Promise<Recovered> {
  const names = (await disk.list()).filter((name) => name !== 'lock')
  const foreign = names.find((name) => !filePattern.test(name) && !name.endsWith('.tmp'))
  if (foreign !== undefined) {
    throw corrupt(
      `Cannot open ${folder} as it contains ${foreign}, which does not belong to this store: choose an empty folder`,
    )
  }
  const sorted = (kind: string): string[] =>
    names.filter((name) => name.startsWith(`${kind}-`) && !name.endsWith('.tmp')).sort()
  const logs = sorted('log')
  const snapshot = sorted('snapshot').at(-1)
  if (snapshot === undefined && logs.length === 0) return { mvcc: new Mvcc(), log: undefined, obsolete: names }

  const mvcc = snapshot === undefined ? new Mvcc() : await readSnapshot(disk, folder, snapshot)
  const first = logs.findLastIndex((name) => revisionOf(name) <= mvcc.revision)
  const needed = logs.slice(Math.max(0, first))
  const all: { name: string; file: Buffer }[] = []
  for (const name of needed) all.push({ name, file: await disk.read(name) })
  // A log that was created but never written to is ignored. Otherwise the torn end of the log before it would count as
  // damage.
  const used = all.filter(({ file }) => file.length > headerSize)
  const files = used.length > 0 ? used : all.slice(0, 1)
  let last: { name: string; length: number } | undefined
  for (const [i, { name, file }] of files.entries()) {
    last = { name, length: replay(file, folder, name, mvcc, i === files.length - 1) }
  }
  const keep = new Set([...files.map(({ name }) => name), ...(snapshot === undefined ? [] : [snapshot])])
  return { mvcc, log: last, obsolete: names.filter((name) => !keep.has(name)) }
}

const revisionOf = (name: string): number => Number(filePattern.exec(name)![2])

async function readSnapshot(disk: Disk, folder: string, name: string): Promise<Mvcc> {
  const file = await disk.read(name)
  const revision = decodeHeader(file, snapshotMagic)
  if (revision === undefined) throw corrupt(`Cannot open ${folder} as ${name} is not a snapshot of this store`)
  const entries: Entry[] = []
  const end = decodeFrames(file, ({ key, value, revision: modRevision, createRevision }) => {
    if (value) entries.push({ key, value, createRevision, modRevision })
  })
  // A snapshot gets its final name only when it is complete, so a torn end is damage here.
  if (end.kind !== 'complete') {
    const offset = end.kind === 'torn' ? end.length : end.offset
    throw corrupt(`Cannot open ${folder} as ${name} is damaged at byte ${offset}: restore the folder from a backup`)
  }
  return new Mvcc({ entries, revision })
}

/** Applies a log. Returns the length of its complete part in bytes. */
function replay(file: Buffer, folder: string, name: string, mvcc: Mvcc, newest: boolean): number {
  if (file.length < headerSize && newest) return 0
  const start = decodeHeader(file, logMagic)
  if (start === undefined) throw corrupt(`Cannot open ${folder} as ${name} is not a log of this store`)
  if (start > mvcc.revision) {
    throw corrupt(
      `Cannot open ${folder} as the log between revisions ${mvcc.revision} and ${start} is missing: restore the folder from a backup`,
    )
  }
  let gap: number | undefined
  const end = decodeFrames(file, ({ key, value, revision }) => {
    if (revision <= mvcc.revision || gap !== undefined) return
    if (revision !== mvcc.revision + 1) gap = revision
    else mvcc.publish({ key, value })
  })
  if (gap !== undefined) {
    throw corrupt(
      `Cannot open ${folder} as ${name} jumps from revision ${mvcc.revision} to ${gap}: restore the folder from a backup`,
    )
  }
  if (end.kind === 'corrupt' || (end.kind === 'torn' && !newest)) {
    const [offset, why] = end.kind === 'torn' ? [end.length, 'the file ends too early'] : [end.offset, end.why]
    throw corrupt(
      `Cannot open ${folder} as ${name} is damaged at byte ${offset} (${why}): restore the folder from a backup`,
    )
  }
  return end.length
}

function corrupt(message: string): StorageError {
  return new StorageError('KW_STORAGE_CORRUPT', message)
}
