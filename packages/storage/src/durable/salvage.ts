import { Mvcc } from '../memory/mvcc.ts'
import type { Entry } from '../store/store.ts'
import type { Disk } from './disk.ts'
import { readMarker } from './marker.ts'
import { listFiles, missingWrites, newerFormat, recordProblem, revisionOf } from './recover.ts'
import { type ScannedFile, scanFile } from './scan-file.ts'
import { readState, StateReader } from './state-file.ts'
import { headerSize, type WalRecord } from './wal-format.ts'

/** Something that a repair could not recover. */
export type Loss =
  /** All writes after a revision. */
  | {
      readonly kind: 'writes'
      /** The newest revision that is complete. */
      readonly after: number
      /** The newest revision that a file mentions; later ones may have existed. */
      readonly upTo: number | undefined
      /** The keys of lost writes that can still be read in the moved files. */
      readonly keys: readonly string[]
      readonly why: string
    }
  /** Entries of a snapshot. */
  | {
      readonly kind: 'entries'
      readonly file: string
      /** How many; undefined when it is not known. */
      readonly count: number | undefined
      /** The lost keys are between these; undefined stands for the first or last key. */
      readonly ranges: readonly { readonly after: string | undefined; readonly before: string | undefined }[]
    }

/** The state that could be recovered. */
export interface Salvaged {
  readonly entries: readonly Entry[]
  /** The newest revision that any file mentions. */
  readonly newest: number
  readonly losses: readonly Loss[]
}

/** Recovers the state of a damaged folder as far as it is provably complete. Changes nothing. */
export async function salvage(disk: Disk, folder: string): Promise<Salvaged> {
  const { logs, snapshots } = await listFiles(disk, folder)
  const contents = new Map<string, Contents>()
  for (const name of [...snapshots, ...logs]) contents.set(name, await readContents(disk, folder, name))
  const marker = await readMarker(disk)
  const known = typeof marker === 'number' ? marker : 0
  const newest = [...contents.values()].reduce((most, one) => Math.max(most, one.newest), Math.max(1, known))
  const bases = await completeBases(disk, snapshots, logs)
  const reached = bases.map((mvcc) => {
    const why = replayUntilDamage(mvcc, logs, contents)
    return { mvcc, why: why ?? (mvcc.revision < known ? missingWrites(mvcc.revision, known) : undefined) }
  })
  reached.sort((a, b) => b.mvcc.revision - a.mvcc.revision)
  const best = reached[0]
  if (best)
    return {
      entries: [...best.mvcc.entries()],
      newest,
      losses: lostWrites(best.mvcc.revision, best.why, newest, contents),
    }
  const last = snapshots.at(-1)
  if (last === undefined)
    return { entries: [], newest, losses: lostWrites(1, 'the first log is missing', newest, contents) }
  return { newest, ...partial(last, logs, newest, contents) }
}

/** The readable records of a file. */
interface Contents {
  readonly scanned: ScannedFile
  /** Intact frames, by position. */
  readonly frames: readonly { readonly position: number; readonly records: readonly WalRecord[] }[]
  readonly newest: number
}

async function readContents(disk: Disk, folder: string, name: string): Promise<Contents> {
  const source = await disk.openReader(name)
  const frames: { position: number; records: readonly WalRecord[] }[] = []
  let newest = revisionOf(name)
  try {
    const scanned = await scanFile(source, name.startsWith('log-') ? 'log' : 'snapshot', (records, position) => {
      frames.push({ position, records })
      for (const { revision } of records) newest = Math.max(newest, revision)
    })
    if (scanned.newer !== undefined) throw newerFormat(folder, name, scanned.newer)
    return { scanned, frames, newest }
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** The states to start from: intact snapshots, and the empty store if its first log is there. */
async function completeBases(disk: Disk, snapshots: readonly string[], logs: readonly string[]): Promise<Mvcc[]> {
  const bases: Mvcc[] = []
  for (const name of snapshots) {
    const source = await disk.openReader(name)
    const state = await readState(source, 'snapshot').finally(() => source[Symbol.asyncDispose]())
    if ('entries' in state && state.header.revision === revisionOf(name))
      bases.push(new Mvcc({ entries: state.entries, revision: state.header.revision }))
  }
  if (logs[0] !== undefined && revisionOf(logs[0]) === 1) bases.push(new Mvcc())
  return bases
}

/** The records of a log up to its first damage, and the damage. */
function recordsUntilDamage(
  name: string,
  { scanned, frames }: Contents,
): { records: WalRecord[]; why: string | undefined } {
  // The header has only the revision, which is also in the name: the order of the records shows that they belong here.
  const damage = scanned.damages.find(({ offset, end = 0 }) => offset > 0 || (end !== 16 && end !== headerSize))
  const before = damage ? frames.filter(({ position }) => position < damage.offset) : frames
  const why = damage && `${name} is damaged at byte ${damage.offset} (${damage.why})`
  return { records: before.flatMap(({ records }) => records), why }
}

/** Applies the logs after a state in order. Returns why it stopped before the end; undefined when all logs were applied. */
function replayUntilDamage(
  mvcc: Mvcc,
  logs: readonly string[],
  contents: ReadonlyMap<string, Contents>,
): string | undefined {
  const first = logs.findLastIndex((name) => revisionOf(name) <= mvcc.revision)
  if (first < 0) return `the log after revision ${mvcc.revision} is missing`
  for (const name of logs.slice(first)) {
    if (revisionOf(name) > mvcc.revision)
      return `the log between revisions ${mvcc.revision} and ${revisionOf(name)} is missing`
    const { records, why } = recordsUntilDamage(name, contents.get(name)!)
    for (const record of records) {
      if (record.revision <= mvcc.revision) continue
      const problem = recordProblem(mvcc, record)
      if (problem !== undefined) return `${name} ${problem}`
      mvcc.publish({ key: record.key, value: record.type === 'put' ? record.value : undefined })
    }
    if (why !== undefined) return why
  }
  return undefined
}

function lostWrites(
  after: number,
  why: string | undefined,
  newest: number,
  contents: ReadonlyMap<string, Contents>,
): Loss[] {
  if (why === undefined) return []
  const keys = new Set<string>()
  for (const [name, { frames }] of contents) {
    if (!name.startsWith('log-')) continue
    for (const { records } of frames) for (const { key, revision } of records) if (revision > after) keys.add(key)
  }
  return [{ kind: 'writes', after, upTo: newest > after ? newest : undefined, keys: [...keys].sort(), why }]
}

/** The intact frames of a damaged snapshot, and the writes after it. */
function partial(
  name: string,
  logs: readonly string[],
  newest: number,
  contents: ReadonlyMap<string, Contents>,
): { entries: Entry[]; losses: Loss[] } {
  const { scanned, frames } = contents.get(name)!
  const revision = revisionOf(name)
  const reader = new StateReader(scanned.header ?? { format: 2, revision, size: 0 })
  const state = new Map<string, Entry>()
  for (const { position, records } of frames) reader.add(records, position)
  for (const entry of reader.entries) state.set(entry.key, entry)
  const count = reader.expected === undefined ? undefined : reader.expected - reader.entries.length
  const losses: Loss[] = [{ kind: 'entries', file: name, count, ranges: lostRanges(contents.get(name)!) }]
  const reached = applyLoosely(state, revision, logs, contents)
  const entries = [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  return { entries, losses: [...losses, ...lostWrites(reached.revision, reached.why, newest, contents)] }
}

/** Applies the logs after a revision to a state of which entries are missing, so only the order of the records can be checked. */
function applyLoosely(
  state: Map<string, Entry>,
  start: number,
  logs: readonly string[],
  contents: ReadonlyMap<string, Contents>,
): { revision: number; why: string | undefined } {
  let revision = start
  for (const name of logs) {
    if (revisionOf(name) < start) continue
    const { records, why } = recordsUntilDamage(name, contents.get(name)!)
    for (const record of records) {
      if (record.revision !== revision + 1)
        return { revision, why: `${name} jumps from revision ${revision} to ${record.revision}` }
      revision = record.revision
      const { key, value, createRevision } = record
      if (record.type === 'put') state.set(key, { key, value, createRevision, modRevision: revision })
      else state.delete(key)
    }
    if (why !== undefined) return { revision, why }
  }
  return { revision, why: undefined }
}

/** The keys around each damaged part of a snapshot. */
function lostRanges({ scanned, frames }: Contents): { after: string | undefined; before: string | undefined }[] {
  const gaps = scanned.damages.map(({ offset }) => offset)
  if (scanned.torn !== undefined) gaps.push(scanned.torn)
  // All frames that are there are intact, but some are missing: at the end, or somewhere between.
  if (gaps.length === 0) gaps.push(Number.POSITIVE_INFINITY)
  const puts = frames
    .map(({ position, records }) => ({ position, keys: records.filter((r) => r.type === 'put').map((r) => r.key) }))
    .filter(({ keys }) => keys.length > 0)
  return gaps.map((offset) => ({
    after: puts.findLast(({ position }) => position < offset)?.keys.at(-1),
    before: puts.find(({ position }) => position > offset)?.keys[0],
  }))
}
