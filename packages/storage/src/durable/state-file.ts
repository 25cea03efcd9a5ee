import { checkKey } from '../store/check-key.ts'
import type { Entry } from '../store/store.ts'
import type { Disk, DurableFile, FileReader } from './disk.ts'
import {
  decodeHeader,
  encodeFrame,
  encodeHeader,
  type FileHeader,
  type FileKind,
  type FrameEnd,
  headerSize,
  readFrames,
  type WalRecord,
} from './wal-format.ts'

/** File names contain the start revision, so sorting the names sorts the files. */
export const logName = (revision: number): string => `log-${String(revision).padStart(16, '0')}`
export const snapshotName = (revision: number): string => `snapshot-${String(revision).padStart(16, '0')}`

/** A file that a backup has besides the entries of the store. */
export interface AttachedFile {
  /** A relative path with slashes, as printable ASCII. */
  readonly path: string
  readonly content: Uint8Array
}

/** The limits of one frame of entries. They bound the memory and the time of one step of writing a snapshot. */
export const frameEntries = 1000
export const frameBytes: number = 256 * 1024

const noValue = new Uint8Array(0)

/** Writes a snapshot or backup. `pieces` are entries in the order of their keys. Does not close the file. */
export async function writeState(
  file: DurableFile,
  kind: 'snapshot' | 'backup',
  revision: number,
  pieces: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
  attached: readonly AttachedFile[] = [],
): Promise<{ readonly entries: number; readonly bytes: number }> {
  let at = 0
  let count = 0
  const append = async (data: Buffer): Promise<void> => {
    await file.write(data, at)
    at += data.length
  }
  await append(encodeHeader(kind, revision))
  for (const { path, content } of attached) {
    await append(encodeFrame([{ type: 'file', key: path, value: content, revision, createRevision: 0 }]))
  }
  for await (const entries of pieces) {
    if (entries.length === 0) continue
    count += entries.length
    await append(encodeFrame(entries.map(recordOf)))
  }
  await append(encodeFrame([{ type: 'end', key: '', value: noValue, revision, createRevision: count }]))
  await file.truncate(at)
  return { entries: count, bytes: at }
}

const recordOf = ({ key, value, modRevision, createRevision }: Entry): WalRecord => ({
  type: 'put',
  key,
  value,
  revision: modRevision,
  createRevision,
})

/** Splits entries into the pieces that {@link writeState} takes. */
export function* piecesOf(entries: Iterable<Entry>): Generator<readonly Entry[]> {
  let piece: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    piece.push(entry)
    bytes += entry.key.length + entry.value.length
    if (piece.length < frameEntries && bytes < frameBytes) continue
    yield piece
    piece = []
    bytes = 0
  }
  yield piece
}

/** The problem of a file, at a position in bytes. */
export interface FileProblem {
  readonly offset: number
  readonly why: string
}

/** The contents of a snapshot or backup. */
export interface State {
  readonly header: FileHeader
  readonly entries: readonly Entry[]
  readonly attached: readonly AttachedFile[]
}

/** Reads a snapshot or backup and verifies all of it. Resolves to the first problem if there is one. */
export async function readState(
  source: FileReader,
  kind: 'snapshot' | 'backup',
): Promise<State | FileProblem | { readonly newer: number }> {
  const header = await readHeader(source, kind)
  if (header === undefined) return { offset: 0, why: `it has no valid header of a ${kind}` }
  if ('newer' in header) return header
  const reader = new StateReader(header)
  const end = await readFrames(source, header.size, (records, position) => reader.add(records, position))
  const problem = reader.problem ?? frameProblem(end) ?? reader.missingEnd(end)
  return problem ?? { header, entries: reader.entries, attached: reader.attached }
}

export async function readHeader(
  source: FileReader,
  kind: FileKind,
): Promise<FileHeader | { readonly newer: number } | undefined> {
  return decodeHeader(await source.read(0, Math.min(headerSize, source.size)), kind)
}

/** The problem of a file that must not end in an incomplete frame. */
export function frameProblem(end: FrameEnd): FileProblem | undefined {
  if (end.kind === 'complete') return undefined
  return end.kind === 'torn' ? { offset: end.length, why: 'the file ends too early' } : end
}

/** Collects the records of a snapshot or backup, and checks them. */
export class StateReader {
  readonly entries: Entry[] = []
  readonly attached: AttachedFile[] = []
  /** The first record that contradicts the others. Records from it on are not collected. */
  problem: FileProblem | undefined
  /** The number of entries that the end record states; undefined before it. */
  expected: number | undefined
  readonly #header: FileHeader

  constructor(header: FileHeader) {
    this.#header = header
  }

  add(records: readonly WalRecord[], offset: number): void {
    for (const record of records) {
      if (this.problem) return
      const why = this.#add(record)
      if (why !== undefined) this.problem = { offset, why }
    }
  }

  /** The problem of a file whose frames are all intact, but not all there. */
  missingEnd(end: FrameEnd): FileProblem | undefined {
    const offset = end.kind === 'corrupt' ? end.offset : end.length
    if (this.#header.format === 1) return undefined
    if (this.expected === undefined) return { offset, why: 'the end is missing' }
    if (this.expected === this.entries.length) return undefined
    return { offset, why: `it has ${this.entries.length} of ${this.expected} entries` }
  }

  #add({ type, key, value, revision, createRevision }: WalRecord): string | undefined {
    if (this.expected !== undefined) return 'there is a record after the end'
    if (type === 'end') {
      this.expected = createRevision
      return revision === this.#header.revision ? undefined : `its end is that of revision ${revision}`
    }
    if (type === 'file') {
      this.attached.push({ path: key, content: value })
      return undefined
    }
    const last = this.entries.at(-1)
    if (type === 'delete') return `the entry ${key} is a deletion`
    if (!isKey(key)) return `an entry has the invalid key ${JSON.stringify(key)}`
    if (last && last.key >= key) return `the entry ${key} follows ${last.key}: the keys are not in order`
    if (!isRevision(createRevision) || createRevision > revision || revision > this.#header.revision)
      return `the entry ${key} has the impossible revisions ${createRevision} and ${revision}`
    this.entries.push({ key, value, createRevision, modRevision: revision })
    return undefined
  }
}

export const isRevision = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

export function isKey(key: string): boolean {
  try {
    checkKey(key)
    return true
  } catch {
    return false
  }
}

const logDraft = 'log-next.tmp'

/** A log without a name and a header yet. */
export interface PreparedLog {
  readonly file: DurableFile
  /** Closes and removes it. Never rejects: a draft that stays is removed when the store is opened. */
  discard(): Promise<void>
}

/** Creates the file of a later log, so that starting the log takes two accesses to the disk only. */
export async function prepareLog(disk: Disk): Promise<PreparedLog> {
  const file = await disk.open(logDraft)
  const discard = async (): Promise<void> => {
    await file.close().catch(() => undefined)
    await disk.remove(logDraft).catch(() => undefined)
  }
  try {
    await file.truncate(0)
    return { file, discard }
  } catch (error) {
    await discard()
    throw error
  }
}

/**
 * Starts a log after a revision. It gets its name when its header is complete, so a log without a header is never the result of a
 * crash. Discards the prepared file when it fails.
 */
export async function startLog(disk: Disk, { file, discard }: PreparedLog, revision: number): Promise<DurableFile> {
  try {
    await file.write(encodeHeader('log', revision), 0)
    await disk.rename(logDraft, logName(revision))
    return file
  } catch (error) {
    await discard()
    throw error
  }
}

/** Creates an empty log after a revision. */
export async function createLog(disk: Disk, revision: number): Promise<DurableFile> {
  return startLog(disk, await prepareLog(disk), revision)
}

/** Writes a snapshot. It has its name only when it is complete. */
export async function createSnapshot(
  disk: Disk,
  revision: number,
  pieces: AsyncIterable<readonly Entry[]> | Iterable<readonly Entry[]>,
): Promise<{ readonly entries: number; readonly bytes: number }> {
  const name = snapshotName(revision)
  const draft = `${name}.tmp`
  const file = await disk.open(draft)
  try {
    const written = await writeState(file, 'snapshot', revision, pieces)
    await file.close()
    await disk.rename(draft, name)
    return written
  } catch (error) {
    // The disk may be full: free the space of the incomplete snapshot.
    await file.close().catch(() => undefined)
    await disk.remove(draft)
    throw error
  }
}
