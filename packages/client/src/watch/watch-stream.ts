import { ApiError, newInternalError, statusFromJson } from '@kubewright/api'
import type { TransportBody } from '../transport/transport.ts'
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

  #event(line: string): WatchEvent<Read> {
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
        return { type, object: this.#parts.read(object) }
      case 'BOOKMARK':
        return bookmark(object)
      case 'ERROR':
        throw errorOf(object)
      default:
        throw newInternalError(new Error(`got invalid watch event type: ${String(type)}`))
    }
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
