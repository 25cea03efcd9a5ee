import { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { CaughtError, isJsonObject, KubewrightError, scanJson, textOf } from '@kubewright/base'
import { type Json, listAt } from '../cluster/json.ts'
import { rowOf } from '../cluster/read-table.ts'
import type { Column } from '../wire/messages.ts'
import type { ResourceName } from '../wire/names.ts'
import type { OperatorView } from '../wire/operator-view.ts'
import { readColumns, readKinds, readMarks, readOperators, readResource, readTime } from './read-views.ts'
import { type RecordedObject, Recording, type Version } from './recording.ts'

const format = 'kubewright-recording'
const formatVersion = 1
// Protects against files that expand without end.
const maxExpanded = 1024 * 1024 * 1024
const maxLine = 64 * 1024 * 1024
// More than the API server accepts in practice, and few enough for recursive functions.
const maxDepth = 500

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

/**
 * Reads a file. Throws if the bytes are not a complete recording of a known version. The file may come from anywhere:
 * its size and depth are limited, and fields of another type than expected become empty.
 */
export async function decodeRecording(bytes: Uint8Array): Promise<RecordingFile> {
  let header: Json | undefined
  let recording = new Recording({ startedAt: 0 })
  let number = 0
  for await (const encoded of expandedLines(bytes)) {
    const line = parseLine(encoded, ++number)
    if (header !== undefined) {
      addState(recording, line, number)
      continue
    }
    header = checkedHeader(line)
    recording = new Recording({ startedAt: readTime(header['startedAt']) ?? 0, maxSize: Infinity })
    recording.setKinds(readKinds(header))
    for (const line of listAt(header, 'columns')) {
      const resource = readResource(line['resource'])
      if (resource !== undefined) recording.setColumns(resource, readColumns(line))
    }
    recording.marks = readMarks(header)
  }
  if (header === undefined) throw unreadable('it is empty')
  return { recording, cluster: textOf(header['cluster']), operators: readOperators(header) }
}

/** The lines of a compressed file, one by one: the whole text may be longer than a string can be. */
async function* expandedLines(bytes: Uint8Array): AsyncGenerator<Buffer, void, undefined> {
  let size = 0
  let parts: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of Readable.from([bytes]).pipe(createGunzip()) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxExpanded) throw new CaughtError(`it is larger than ${maxExpanded / 1024 ** 2} MiB`)
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        parts.push(chunk.subarray(start, end))
        start = end + 1
        if (length + end > 0) yield Buffer.concat(parts)
        parts = []
        length = 0
      }
      parts.push(chunk.subarray(start))
      length += chunk.length - start
      if (length > maxLine) throw new CaughtError(`a line is longer than ${maxLine / 1024 ** 2} MiB`)
    }
  } catch (error) {
    if (error instanceof KubewrightError) throw error
    throw unreadable(`it cannot be expanded: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (length > 0) yield Buffer.concat(parts)
}

function checkedHeader(header: unknown): Json {
  if (!isJsonObject(header) || header['format'] !== format) throw unreadable('it is not a recording of the console')
  if (header['version'] !== formatVersion)
    throw unreadable(`it has version ${String(header['version'])}, but this console reads ${formatVersion}`)
  return header
}

function addState(recording: Recording, line: Json, number: number): void {
  const { uid, namespace, name, isBase, object, row } = line
  const resource = readResource(line['resource'])
  const time = readTime(line['time'])
  const isState = row === undefined || (isJsonObject(row) && isJsonObject(object))
  if (resource === undefined || typeof uid !== 'string' || typeof name !== 'string' || time === undefined || !isState)
    throw unreadable(`line ${number} is not a state of an object`)
  const about = { resource, uid, name, namespace: textOf(namespace) || undefined }
  const state = isJsonObject(row) ? { text: JSON.stringify(object), row: rowOf({ ...row, object }) } : undefined
  recording.add(about, state, time, { isBase: isBase === true })
}

function parseLine(line: Buffer, number: number): Json {
  if (scanJson(line).depth > maxDepth) throw unreadable(`line ${number} is nested more than ${maxDepth} levels deep`)
  try {
    return JSON.parse(line.toString('utf8')) as Json
  } catch {
    throw unreadable(`line ${number} is not complete`)
  }
}

function unreadable(reason: string): KubewrightError {
  return new KubewrightError('KW_CONSOLE_RECORDING', `The recording cannot be read: ${reason}. Export it again.`)
}
