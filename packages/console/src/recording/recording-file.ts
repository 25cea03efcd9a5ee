import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import { KubewrightError } from '@kubewright/base'
import { isJson, type Json, listAt, textOf } from '../cluster/json.ts'
import { rowOf } from '../cluster/read-table.ts'
import type { Column } from '../wire/messages.ts'
import type { KindInfo, ResourceName } from '../wire/names.ts'
import type { OperatorView } from '../wire/operator-view.ts'
import { type Mark, type RecordedObject, Recording, type Version } from './recording.ts'

const format = 'kubewright-recording'
const formatVersion = 1
// Protects against files that expand without end.
const maxExpanded = 1024 * 1024 * 1024

/** A recording that was read from a file, with what the file states about its origin. */
export interface RecordingFile {
  readonly recording: Recording
  /** The name of the recorded cluster. */
  readonly cluster: string
  readonly operators: readonly OperatorView[]
}

interface ColumnsLine {
  readonly resource: ResourceName
  readonly columns: readonly Column[]
}

/** The bytes of a file: gzip over one JSON value per line, a header first, then every state. */
export function encodeRecording({ recording, cluster, operators }: RecordingFile): AsyncIterable<Uint8Array> {
  const zip = createGzip()
  const lines = linesOf(recording, { cluster, operators })
  const write = (): void => {
    for (let next = lines.next(); !next.done; next = lines.next())
      if (!zip.write(next.value)) {
        zip.once('drain', write)
        return
      }
    zip.end()
  }
  write()
  return zip
}

function* linesOf(recording: Recording, about: Omit<RecordingFile, 'recording'>): Generator<string, void, undefined> {
  const { kinds, startedAt, first, marks } = recording
  const columns: ColumnsLine[] = kinds.map(({ group, version, plural }) => {
    const resource = { group, version, plural }
    return { resource, columns: recording.columnsOf(resource) }
  })
  yield `${JSON.stringify({ format, version: formatVersion, startedAt, ...about, kinds, columns, marks })}\n`
  for (const object of recording.objects())
    for (const version of object.versions) if (version.number <= first) yield lineOf(object, version, true)
  for (const { number, object } of recording.changes) {
    const version = object.versions.find((one) => one.number === number)
    if (version !== undefined) yield lineOf(object, version, false)
  }
}

function lineOf({ resource, uid, namespace, name }: RecordedObject, { time, state }: Version, isBase: boolean): string {
  const row = state && { cells: state.row.cells }
  const text = JSON.stringify({ resource, uid, namespace, name, time, ...(isBase ? { isBase } : {}), row })
  // The object is already JSON.
  return state === undefined ? `${text}\n` : `${text.slice(0, -1)},"object":${state.text}}\n`
}

/** Reads a file. Throws if the bytes are not a complete recording of a known version. */
export async function decodeRecording(bytes: Uint8Array): Promise<RecordingFile> {
  const text = await promisify(gunzip)(bytes, { maxOutputLength: maxExpanded }).catch((error: unknown) => {
    throw unreadable(`it cannot be expanded: ${error instanceof Error ? error.message : String(error)}`)
  })
  const [header, ...lines] = text.toString('utf8').split('\n').filter(Boolean).map(parseLine)
  if (!isJson(header) || header['format'] !== format) throw unreadable('it is not a recording of the console')
  if (header['version'] !== formatVersion)
    throw unreadable(`it has version ${String(header['version'])}, but this console reads ${formatVersion}`)
  const { startedAt, cluster } = header
  const recording = new Recording({ startedAt: typeof startedAt === 'number' ? startedAt : 0, maxSize: Infinity })
  // The lists are those of this package's own format; their items are only ever shown as text.
  recording.setKinds(listAt(header, 'kinds') as unknown as KindInfo[])
  for (const { resource, columns } of listAt(header, 'columns') as unknown as ColumnsLine[])
    recording.setColumns(resource, columns)
  recording.marks = listAt(header, 'marks') as unknown as Mark[]
  lines.forEach((line, index) => {
    const { resource, uid, namespace, name, time, isBase, object, row } = line
    if (!isJson(resource) || typeof uid !== 'string' || typeof name !== 'string' || typeof time !== 'number')
      throw unreadable(`line ${index + 2} is not a state of an object`)
    const about = {
      resource: resource as unknown as ResourceName,
      uid,
      name,
      namespace: textOf(namespace) || undefined,
    }
    const state = isJson(row) ? { text: JSON.stringify(object), row: rowOf({ ...row, object }) } : undefined
    recording.add(about, state, time, { isBase: isBase === true })
  })
  return { recording, cluster: textOf(cluster), operators: listAt(header, 'operators') as unknown as OperatorView[] }
}

function parseLine(text: string, index: number): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw unreadable(`line ${index + 1} is not complete`)
  }
}

function unreadable(reason: string): KubewrightError {
  return new KubewrightError('KW_CONSOLE_RECORDING', `The recording cannot be read: ${reason}. Export it again.`)
}
