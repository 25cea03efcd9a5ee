import { Requests } from '../../up/requests.ts'
import type { UpProcess } from '../../up/up-process.ts'
import type { RecordedWrite, RecordedWriter } from './recorded-writer.ts'
import type { SeenChange, WatchLog } from './watch-log.ts'

interface StoredMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data: { readonly value: string }
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Waits until the watches have caught up, and compares them with the writes and with the stored objects. Returns the differences. */
export async function verifyCrash(
  up: UpProcess,
  path: string,
  writers: readonly RecordedWriter[],
  watches: readonly WatchLog[],
): Promise<string[]> {
  using requests = new Requests(up.kubeconfig)
  // Awaited here, because the end of this function closes the client.
  return await verifyWrites(requests, path, writers, watches)
}

/** As {@link verifyCrash}, with a client of the server. */
export async function verifyWrites(
  requests: Requests,
  path: string,
  writers: readonly RecordedWriter[],
  watches: readonly WatchLog[],
): Promise<string[]> {
  // A write after all others: a watch that has seen it has seen everything.
  const marker = await requests.send('POST', path, { metadata: { generateName: 'marker-' }, data: { value: 'marker' } })
  const last = Number(marker.body.metadata.resourceVersion)
  const deadline = performance.now() + 120_000
  while (watches.some(({ version }) => version < last)) {
    if (performance.now() > deadline)
      return [`a watch did not resume: ${watches.map(({ version }) => version).join(', ')} of ${last}`]
    await pause(5)
  }
  const { body } = await requests.send('GET', path)
  const stored = new Map((body.items as StoredMap[]).map((item) => [item.metadata.name, item]))
  const found = writers.flatMap(({ mistakes }) => mistakes)
  for (const watch of watches) found.push(...watch.mistakes, ...differences(writers, watch.changes, stored))
  return found
}

function differences(
  writers: readonly RecordedWriter[],
  changes: readonly SeenChange[],
  stored: ReadonlyMap<string, StoredMap>,
): string[] {
  const changesOf = byName(changes)
  return writers.flatMap(({ writes }) =>
    [...byName(writes)].flatMap(([name, list]) =>
      differencesOf(name, list, changesOf.get(name) ?? [], stored.get(name)),
    ),
  )
}

function byName<T extends { readonly name: string }>(items: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>()
  for (const item of items) {
    const list = found.get(item.name) ?? []
    found.set(item.name, list)
    list.push(item)
  }
  return found
}

/** Compares the writes of one object, which were made one after the other, with its events and its stored form. */
function differencesOf(
  name: string,
  writes: readonly RecordedWrite[],
  changes: readonly SeenChange[],
  stored: StoredMap | undefined,
): string[] {
  // The index of the last write whose result was seen.
  let seen = -1
  // Whether a list without the object has replaced events, the last of which was a deletion.
  let wasAbsent = false
  for (const change of changes) {
    if (change.type === 'ABSENT') {
      wasAbsent = true
      continue
    }
    // A list shows the result of the last write again, or that of a later one, and replaces the events between them.
    const isList = change.type === 'LISTED'
    const at = writes.findIndex((write, i) => i >= (isList ? Math.max(0, seen) : seen + 1) && isOf(change, write))
    const write = writes[at]
    if (!write) return [`${name}: no write for ${JSON.stringify(change)} after ${JSON.stringify(writes[seen])}`]
    if (write.version !== undefined && write.version !== 0 && write.version !== change.version)
      return [`${name}: ${write.value} was acknowledged at ${write.version}, but was seen at ${change.version}`]
    const skipped = writes.slice(seen + 1, at)
    if (!isList && !(wasAbsent ? endsWithDelete(skipped) : skipped.every(isUndecided)))
      return [
        `${name}: an acknowledged write before ${JSON.stringify(change)} was not seen: ${JSON.stringify(skipped)}`,
      ]
    seen = at
    wasAbsent = false
  }
  const rest = writes.slice(seen + 1)
  if (!(wasAbsent ? endsWithDelete(rest) : rest.every(isUndecided)))
    return [`${name}: acknowledged, but not seen: ${JSON.stringify(rest)}`]
  const last = changes.at(-1)
  const expected = last?.type === 'DELETED' || last?.type === 'ABSENT' ? undefined : last
  const version = stored && Number(stored.metadata.resourceVersion)
  if (expected?.value === stored?.data.value && expected?.version === version) return []
  return [`${name}: stored ${JSON.stringify(stored?.data)}, but the last event is ${JSON.stringify(last)}`]
}

function isUndecided({ version }: RecordedWrite): boolean {
  return version === undefined
}

/** Whether the object can be absent after these writes: the last one with a known result is a delete, or a later delete was made. */
function endsWithDelete(writes: readonly RecordedWrite[]): boolean {
  const last = writes.findLastIndex((write) => !isUndecided(write))
  return last < 0 || writes.slice(last).some(({ value }) => value === undefined)
}

function isOf(change: SeenChange, { value }: RecordedWrite): boolean {
  return value === undefined ? change.type === 'DELETED' : change.type !== 'DELETED' && change.value === value
}
