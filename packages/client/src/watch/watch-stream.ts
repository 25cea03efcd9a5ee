import { ApiError, newInternalError, statusFromJson } from '@kubewright/api'
import type { TransportBody } from '../transport/transport.ts'
import type { ByteHome, EncodedObject } from './encoded-object.ts'
import { EncodedReader } from './encoded-reader.ts'
import { isWord, skipSpace } from './json-scan.ts'
import { LineSplitter } from './line-splitter.ts'
import { readLines } from './read-lines.ts'

/** What a watch tells. */
export type WatchEvent<Read> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Read }
  | {
      readonly type: 'BOOKMARK'
      /** Everything up to this version has been sent. */
      readonly resourceVersion: string
      /** True on the one that follows the initial events. */
      readonly initialEventsEnd: boolean
    }

/** What a {@link WatchStream} is made from. */
export interface WatchStreamParts<Read> {
  readonly body: TransportBody
  /** Turns the parsed object of an event into what readers get. */
  readonly read: (object: unknown) => Read
  /** What the objects are, where they do not say it, or, when it is fixed, whatever they say. */
  readonly type?: { readonly apiVersion: string; readonly kind: string; readonly isFixed?: boolean }
}

interface WireEvent {
  readonly type?: unknown
  readonly object?: unknown
}

/**
 * The events of one watch, in order. It can be read once, event by event or in batches; leaving the loop ends the watch. It ends
 * when the server ends it, which is nothing special; an ERROR event throws its ApiError (Expired: list again), and a broken
 * connection a `ConnectionError`.
 */
export class WatchStream<Read> implements AsyncIterable<WatchEvent<Read>>, Disposable {
  readonly #parts: WatchStreamParts<Read>

  constructor(parts: WatchStreamParts<Read>) {
    this.#parts = parts
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Read>, void, undefined> {
    for await (const batch of this.batches()) yield* batch
  }

  /** The events as they arrive together: one turn of the event loop for many of them. */
  async *batches(): AsyncGenerator<readonly WatchEvent<Read>[], void, undefined> {
    for await (const lines of readLines(this.#parts.body)) {
      const events: WatchEvent<Read>[] = []
      for (const line of lines) {
        if (line === '') continue
        let event: WatchEvent<Read>
        try {
          event = this.#event(line)
        } catch (error) {
          // What came before the failure has happened all the same.
          if (events.length > 0) yield events
          throw error
        }
        events.push(event)
      }
      if (events.length > 0) yield events
    }
  }

  /** As {@link batches}, with objects that are parsed only when somebody looks: what caches want. */
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
      // What came before the failure has happened all the same.
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

/** Reads an event by its bytes where it is one of an object in the form in which servers send them; otherwise by parsing it. */
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
      // Nothing but the end of the event may follow.
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
    readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: Record<string, string> }
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
