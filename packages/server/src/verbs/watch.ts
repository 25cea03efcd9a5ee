import { type ApiResponse, type BodySink, encodeJson, isApiError, newResourceExpired } from '@kubewright/api'
import { linkSignals, type Timer } from '@kubewright/base'
import { type CacheEvent, eventLine, type ResourceCache } from '../cache/resource-cache.ts'
import { encodeWatchFrame } from '../codec/protobuf/envelope.ts'
import { isProtobuf, type Representation } from '../request/negotiate.ts'
import type { RequestContext } from '../request/request-context.ts'
import { isTrue } from '../request/request-info.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { servedObjects } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { partialObjectMetadata } from '../table/partial-object-metadata.ts'
import { defaultTable, type IncludeObject, includeObjectOf, tableMetadata, tableOf } from '../table/table.ts'
import type { Endpoint } from './endpoint.ts'
import { scopePrefix, waitUntilFresh } from './list.ts'
import { type ListOptions, listOptions, versionProblem } from './list-options.ts'
import { negotiateWatch } from './negotiation.ts'
import { type Selection, selectionOf } from './selection.ts'

const defaultTimeoutSeconds = 1800
const bookmarkMillis = 60_000
/** A last bookmark is sent this long before the deadline, so that the client goes on from where it really was. */
const lastBookmarkMillis = 2000

/** Answers a watch request: a stream of events until the deadline, the client or the server ends it. */
export async function watch(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const representation = negotiateWatch(context, endpoint.resource)
  // Where the path says that this is a watch, the options are still those of a list.
  const options = listOptions(query, isTrue(query.get('watch')))
  const selection = selectionOf(endpoint.resource, query, context.info.name)
  // Unlike for a list, the server gives no reason here.
  const problem = options.resourceVersion === '' ? undefined : versionProblem(options.resourceVersion)
  if (problem !== undefined) throw unclassifiedError(problem)
  const start = Number(options.resourceVersion)
  const include = representation.as === 'Table' ? includeObjectOf(representation.includeObject) : 'Metadata'
  const cache = await endpoint.registry.feed.cache(endpoint.resource.storage.prefix)
  return {
    status: 200,
    headers: {
      'content-type': isProtobuf(representation) ? `${representation.mediaType};stream=watch` : 'application/json',
      'cache-control': 'no-cache, private',
      'transfer-encoding': 'chunked',
    },
    body: (sink) =>
      new WatchStream({ endpoint, context, representation, options, selection, start, cache, sink, include }).run(),
  }
}

interface StreamParts {
  readonly endpoint: Endpoint
  readonly context: RequestContext
  readonly representation: Representation
  readonly options: ListOptions
  readonly selection: Selection
  readonly start: number
  readonly cache: ResourceCache
  readonly sink: BodySink
  readonly include: IncludeObject
}

/** One watcher: a cursor into the cache's window and a sink. */
class WatchStream {
  readonly #parts: StreamParts
  readonly #prefix: string
  readonly #include: IncludeObject
  /** A table's columns are sent with the first event only. */
  #columnsSent = false

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.#prefix = scopePrefix(parts.endpoint, parts.context.info.namespace)
    this.#include = parts.include
  }

  async run(): Promise<void> {
    const { endpoint, context, options } = this.#parts
    const ending = linkSignals(context.request.signal, endpoint.resource.serving.ended)
    const millis = (options.timeoutSeconds ? options.timeoutSeconds : defaultTimeoutSeconds) * 1000
    const { clock } = endpoint.registry
    const deadline = clock.setTimer(millis, () => ending.abort(), 'watch timeout')
    try {
      await this.#stream(ending.signal, clock.now() + millis)
    } finally {
      deadline.cancel()
      ending[Symbol.dispose]()
    }
  }

  async #stream(signal: AbortSignal, deadline: number): Promise<void> {
    const { endpoint, options, cache } = this.#parts
    let bookmarkDue = false
    const bookmarks = options.allowBookmarks ? this.#remindOfBookmarks(deadline, () => (bookmarkDue = true)) : undefined
    try {
      let cursor = await this.#begin(signal)
      const first = cache.end
      while (cursor !== undefined && !signal.aborted) {
        const event = cache.eventAt(cursor)
        if (event === 'lost') return this.#sendError(this.#parts.start)
        if (event) {
          cursor++
          if (endpoint.resource.conversion.storage && event.object.key.startsWith(this.#prefix)) await this.#load(event)
          if (!this.#deliver(event)) await this.#parts.sink.drained()
        } else if (bookmarkDue) {
          bookmarkDue = false
          if (endpoint.resource.origin.sendsBookmarksWhenIdle || cursor > first)
            this.#bookmark(endpoint.registry.feed.revision, false)
        } else {
          await cache.changed(signal)
        }
      }
    } catch (error) {
      // An object that cannot be shown in this version ends the watch: leaving it out would hide it for good.
      if (!isApiError(error)) throw error
      this.#sendEvent('ERROR', error.status)
    } finally {
      bookmarks?.[Symbol.dispose]()
    }
  }

  /** Sends what the client wants to see first; the result is where the changes go on. */
  async #begin(signal: AbortSignal): Promise<number | undefined> {
    const { cache, options, start, endpoint } = this.#parts
    const { feed, store } = endpoint.registry
    const initial = options.sendInitialEvents ?? start === 0
    if (options.sendInitialEvents && start > feed.revision) await waitUntilFresh(endpoint, start, signal)
    if (initial) {
      if (options.resourceVersion === '' || options.sendInitialEvents)
        await feed.reached(await store.revision(), signal)
      const cursor = cache.end
      const revision = feed.revision
      const objects = cache.list(this.#prefix)
      const seen = await servedObjects(endpoint.resource, objects)
      for (const [i, object] of objects.entries()) {
        if (!this.#parts.selection.matches(object)) continue
        // What happens while a slow client reads is behind the cursor, and comes later.
        if (!this.#send('ADDED', seen[i]!)) await this.#parts.sink.drained()
        if (signal.aborted) return undefined
      }
      // Whoever starts anywhere gets the bookmark too, as if it had asked for the initial events.
      if (options.watch && options.allowBookmarks) this.#bookmark(revision, true)
      return cursor
    }
    if (start === 0) return cache.end
    if (start > feed.revision) await feed.reached(start, signal)
    const cursor = cache.cursorAfter(start)
    if (cursor === undefined) this.#sendError(start)
    return cursor
  }

  /** Has the objects of an event ready in the watcher's version. */
  async #load({ object, previous }: CacheEvent): Promise<void> {
    await servedObjects(this.#parts.endpoint.resource, previous ? [object, previous] : [object])
  }

  /** What the event is for this watcher: a selector can turn a change into an appearance or a disappearance. */
  #deliver(event: CacheEvent): boolean {
    const { selection, endpoint, representation } = this.#parts
    if (!event.object.key.startsWith(this.#prefix)) return true
    let type = event.type
    if (!selection.everything) {
      const matches = event.type !== 'DELETED' && selection.matches(event.object)
      const matched = event.previous !== undefined && selection.matches(event.previous)
      if (!matches && !matched) return true
      type = !matches ? 'DELETED' : matched ? 'MODIFIED' : 'ADDED'
    }
    const { storage } = endpoint.resource.conversion
    if (storage) {
      const hidden = type === 'DELETED' && event.type !== 'DELETED'
      const stored = hidden ? event.previous! : event.object
      const seen = storage.peek(stored) ?? stored
      if (hidden || seen !== stored) return this.#send(type, hidden ? seen.at(event.revision) : seen)
    }
    if (representation.as === undefined) {
      const encoded = isProtobuf(representation) ? event.frame(type, encodeWatchFrame) : event.line(type)
      return this.#parts.sink.write(encoded)
    }
    return this.#send(type, event.objectFor(type))
  }

  #send(type: string, stored: StoredObject): boolean {
    const { representation, sink } = this.#parts
    if (representation.as === undefined && !isProtobuf(representation)) {
      return sink.write(eventLine(type, stored.bytes))
    }
    return this.#sendEvent(type, this.#represent(stored.object as MutableObject))
  }

  #sendEvent(type: string, object: unknown): boolean {
    const { representation, sink } = this.#parts
    if (isProtobuf(representation)) return sink.write(encodeWatchFrame(type, object))
    return sink.write(eventLine(type, Buffer.from(encodeJson(object))))
  }

  #represent(object: MutableObject): unknown {
    const { endpoint, representation } = this.#parts
    const apiVersion = representation.asVersion!
    if (representation.as === undefined) return object
    const inner = endpoint.resource.conversion.toInternal
    if (representation.as !== 'Table') return partialObjectMetadata(inner?.(object) ?? object, apiVersion)
    const now = endpoint.registry.clock.now()
    const table = endpoint.resource.presentation.table ?? defaultTable
    const headers = !this.#columnsSent
    this.#columnsSent = true
    return tableOf(table, [object], tableMetadata(object), { apiVersion, include: this.#include, inner }, now, headers)
  }

  /** Tells the client how far it has seen everything. */
  #bookmark(revision: number, initialEventsEnd: boolean): void {
    const { endpoint, representation } = this.#parts
    const { kind, codec, presentation } = endpoint.resource
    // PartialObjectMetadata shows nothing else, and clients that watch every resource receive many bookmarks.
    const unset = representation.as === 'PartialObjectMetadata' ? undefined : codec.empty?.()
    const base = unset && representation.as === undefined ? (presentation.bookmark?.(unset) ?? unset) : unset
    const metadata: MutableObject['metadata'] = { resourceVersion: String(revision) }
    const annotations = {
      ...base?.metadata?.annotations,
      ...(initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : {}),
    }
    if (Object.keys(annotations).length > 0) metadata.annotations = annotations
    const object: MutableObject = { ...(base ?? { kind: kind.kind, apiVersion: kind.apiVersion }), metadata }
    const shown = representation.as === undefined ? object : this.#represent(object)
    this.#sendEvent('BOOKMARK', shown)
  }

  #sendError(wanted: number): undefined {
    const oldest = this.#parts.cache.completeAfter
    const { status } = newResourceExpired(`too old resource version: ${wanted} (${oldest})`)
    this.#sendEvent('ERROR', status)
  }

  /** Calls back every minute and shortly before the deadline. */
  #remindOfBookmarks(deadline: number, remind: () => void): Disposable {
    const { clock } = this.#parts.endpoint.registry
    const { cache } = this.#parts
    const last = deadline - lastBookmarkMillis
    let timer: Timer | undefined
    const schedule = (): void => {
      const now = clock.now()
      const next = Math.min(now + bookmarkMillis, last)
      // A timer may be a moment early: the one for the last bookmark is never followed by another for the same.
      timer = next > now ? clock.setTimer(next - now, () => due(next === last), 'bookmark') : undefined
    }
    const due = (isLast: boolean): void => {
      remind()
      // Nothing may have happened to this resource: wake the stream to send the bookmark.
      cache.wake()
      if (!isLast) schedule()
    }
    schedule()
    return { [Symbol.dispose]: () => timer?.cancel() }
  }
}
