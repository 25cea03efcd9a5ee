import { ApiError, newInternalError, statusFromJson } from '@kubewright/api'
import type { TransportBody } from '../transport/transport.ts'
import type { ByteHome, EncodedObject } from './encoded-object.ts'
import { EncodedReader } from './encoded-reader.ts'
import { isWord, skipSpace } from './json-scan.ts'
import { LineSplitter } from './line-splitter.ts'
import { readLines } from './read-lines.ts'

/** An event of a watch. */
export type WatchEvent<Read> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Read }
  | {
      readonly type: 'BOOKMARK'
      /** Every event up to this version was sent. */
      readonly resourceVersion: string
      /** True on the bookmark that follows the initial events. */
      readonly initialEventsEnd: boolean
    }

/** Parameters of {@link WatchStream}. */
export interface WatchStreamParts<Read> {
  readonly body: TransportBody
  /** Converts the parsed object of an event to the type that readers get. */
  readonly read: (object: unknown) => Read
  /** The type of objects that do not declare one or, when `isFixed`, of all objects. */
  readonly type?:
    | { readonly apiVersion: string; readonly kind: string; readonly isFixed?: boolean | undefined }
    | undefined
}

interface WireEvent {
  readonly type?: unknown
  readonly object?: unknown
}

/**
 * The events of one watch, in order. Read it once, event by event or in batches; leaving the loop ends the watch.
 * Iteration ends normally when the server ends the watch. An ERROR event throws its ApiError (when it is Expired, list
 * again), and a lost connection throws a `ConnectionError`. Events received before a failure are delivered before it is
 * thrown.
 */
export class WatchStream<Read> implements AsyncIterable<WatchEvent<Read>>, Disposable {
  readonly #parts: WatchStreamParts<Read>

  constructor(parts: WatchStreamParts<Read>) {
    this.#parts = parts
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Read>, void, undefined> {
    for await (const batch of this.batches()) yield* batch
  }

  /** The events in batches as they arrive: one turn of the event loop for many events. */
  async *batches(): AsyncGenerator<readonly WatchEvent<Read>[], void, undefined> {
    for await (const lines of readLines(this.#parts.body)) {
      const events: WatchEvent<Read>[] = []
      for (const line of lines) {
        if (line === '') continue
        let event: WatchEvent<Read>
        try {
          event = this.#event(line)
        } catch (error) {
          // Deliver the events before the failure first.
          if (events.length > 0) yield events
          throw error
        }
        events.push(event)
      }
      if (events.length > 0) yield events
    }
  }

  /** Like {@link batches}, with objects that are parsed on access. For caches. */
  async *encoded(): AsyncGenerator<readonly WatchEvent<EncodedObject<Read>>[], void, undefined> {
    const { body, read, type = { apiVersion: '', kind: '' } } = this.#parts
    const reader = new EncodedReader<Read>({ ...type, read })
    const splitter = new LineSplitter()
    let events: WatchEvent<EncodedObject<Read>>[] = []
    let home: ByteHome = { bytes: Buffer.alloc(0) }
    const visit = (bytes: Buffer, start: number, end: number): void => {
      if (end === start) return
      if (home.bytes !== bytes) home = { bytes }
      events.push(encodedEvent(reader, home, start, end))
    }
    const taken = (): typeof events => {
      const batch = events
      events = []
      return batch
    }
    try {
      for await (const chunk of body) {
        splitter.push(chunk, visit)
        if (events.length > 0) yield taken()
      }
      splitter.finish(visit)
    } catch (error) {
      // Deliver the events before the failure first.
      if (events.length > 0) yield taken()
      throw error
    }
    if (events.length > 0) yield taken()
  }

  #event(line: string): WatchEvent<Read> {
    return eventOf(line, this.#parts.read)
  }

  /** Ends the watch. */
  close(): void {
    this.#parts.body.discard()
  }

  /** Ends the watch. */
  [Symbol.dispose](): void {
    this.close()
  }
}

const prefix = Buffer.from('{"type":"')
const objectPrefix = Buffer.from('","object":')
const plainTypes = (['MODIFIED', 'ADDED', 'DELETED'] as const).map((type) => ({ type, word: Buffer.from(type) }))
const closeBrace = 0x7d

/** Reads an event from its bytes when it has the usual encoding of servers, else by parsing it. */
function encodedEvent<Read>(
  reader: EncodedReader<Read>,
  home: ByteHome,
  start: number,
  end: number,
): WatchEvent<EncodedObject<Read>> {
  const { bytes } = home
  const typeStart = start + prefix.length
  if (isWord(bytes, start, typeStart, prefix)) {
    for (const { type, word } of plainTypes) {
      const typeEnd = typeStart + word.length
      if (!isWord(bytes, typeStart, typeEnd, word)) continue
      const at = typeEnd + objectPrefix.length
      if (!isWord(bytes, typeEnd, at, objectPrefix)) break
      const object = reader.read(home, at, end)
      // Only the end of the event may follow.
      const rest = object === undefined ? -1 : skipSpace(bytes, reader.end, end)
      if (object === undefined || bytes[rest] !== closeBrace || skipSpace(bytes, rest + 1, end) !== end) break
      return { type, object }
    }
  }
  return eventOf(bytes.toString('utf8', start, end), (object) => reader.encode(object))
}

function eventOf<O>(line: string, read: (object: unknown) => O): WatchEvent<O> {
  let wire: WireEvent
  try {
    wire = JSON.parse(line) as WireEvent
  } catch (error) {
    throw newInternalError(new Error(`unable to decode an event from the watch stream: ${(error as Error).message}`))
  }
  const { type, object } = wire
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: read(object) }
    case 'BOOKMARK':
      return bookmark(object)
    case 'ERROR':
      throw errorOf(object)
    default:
      throw newInternalError(new Error(`got invalid watch event type: ${String(type)}`))
  }
}

function bookmark(object: unknown): WatchEvent<never> {
  const { metadata } = object as {
    readonly metadata?:
      | { readonly resourceVersion?: string | undefined; readonly annotations?: Record<string, string> | undefined }
      | undefined
  }
  return {
    type: 'BOOKMARK',
    resourceVersion: metadata?.resourceVersion ?? '',
    initialEventsEnd: metadata?.annotations?.['k8s.io/initial-events-end'] === 'true',
  }
}

function errorOf(object: unknown): ApiError {
  const status = statusFromJson(object)
  return status
    ? new ApiError(status)
    : newInternalError(new Error(`unexpected object in an ERROR event of a watch: ${JSON.stringify(object)}`))
}
