import { type ApiResponse, type BodySink, encodeJson, isApiError, newResourceExpired } from '@kubewright/api'
import { CaughtError, onAbort, type Timer } from '@kubewright/base'
import { type CacheEvent, eventLine, type ResourceCache, storedLine, storedLines } from '../../cache/resource-cache.ts'
import { encodeWatchFrame } from '../../codec/protobuf/envelope.ts'
import { isProtobuf, type Representation, requireStream } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { isTrue } from '../../request/request-info.ts'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import { servedObjects } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { partialObjectMetadata } from '../../table/partial-object-metadata.ts'
import { defaultTable, type IncludeObject, includeObjectOf, tableMetadata, tableOf } from '../../table/table.ts'
import type { Endpoint } from '../endpoint.ts'
import { negotiateList, requireListRoute } from '../negotiation.ts'
import { waitUntilFresh } from './freshness.ts'
import { type ListOptions, readListQuery, versionProblem } from './list-options.ts'
import type { Selection } from './selection.ts'

const defaultTimeoutSeconds = 1800
const bookmarkMillis = 60_000
/** How long before the deadline the last bookmark is sent, from which the client can resume without a gap. */
const lastBookmarkMillis = 2000

/** The client wants lists, and an event has one object. As in kube-apiserver, the first event ends the watch without an error. */
class UnrepresentableEvent extends CaughtError {
  override readonly name = 'UnrepresentableEvent'
}

/** Handles watch requests: streams events until the deadline, the client or the server ends the watch. */
export async function watch(endpoint: Endpoint, context: RequestContext): Promise<ApiResponse> {
  const { query } = context.request
  const { resource } = endpoint
  requireListRoute(context, resource)
  // The deprecated watch paths validate their options as lists do.
  const request = { watch: isTrue(query.get('watch')), name: context.info.name }
  const { options, selection, negotiated } = readListQuery(resource, query, request, () =>
    negotiateList(context, resource),
  )
  // kube-apiserver does not classify this error, although it does for lists.
  const problem = options.resourceVersion === '' ? undefined : versionProblem(options.resourceVersion)
  if (problem !== undefined) throw unclassifiedError(problem)
  const start = Number(options.resourceVersion)
  const representation = requireStream(negotiated)
  const include = representation.as === 'Table' ? includeObjectOf(representation.includeObject) : 'Metadata'
  const cache = await endpoint.registry.feed.cache(endpoint.resource.storage.prefix)
  const prefix = endpoint.registry.prefixOf(resource, context.info.namespace)
  const { request: sender } = context
  const isInProcess = sender.peer?.inProcess === true
  const onCanceled = sender.onCanceled ?? onAbortOf(sender.signal)
  return streamOf({
    endpoint,
    representation,
    options,
    selection,
    start,
    cache,
    prefix,
    include,
    onCanceled,
    isInProcess,
  })
}

function onAbortOf(signal: AbortSignal): StreamParts['onCanceled'] {
  return (callback) => onAbort(signal, callback)
}

/** The response to a watch. Its body holds the given parts only: a watch lasts long, and the context of its request takes kilobytes. */
function streamOf(parts: StreamParts): ApiResponse {
  const { representation } = parts
  return {
    status: 200,
    headers: {
      'content-type': isProtobuf(representation) ? `${representation.mediaType};stream=watch` : 'application/json',
      'cache-control': 'no-cache, private',
      'transfer-encoding': 'chunked',
    },
    body: (sink) => new WatchStream(parts, sink).run(),
  }
}

interface StreamParts {
  readonly endpoint: Endpoint
  readonly representation: Representation
  readonly options: ListOptions
  readonly selection: Selection
  readonly start: number
  readonly cache: ResourceCache
  /** The keys of the watched objects start with it. */
  readonly prefix: string
  readonly include: IncludeObject
  /** Calls back when the client disconnects or the server stops. */
  readonly onCanceled: (callback: () => void) => unknown
  /** Whether the client is in this process. */
  readonly isInProcess: boolean
}

/**
 * One watcher: a cursor into the cache's window and a sink for events. Every change after the start is delivered once and in order, or
 * the stream ends with 410 Gone. A slow sink delays only its own watcher.
 */
class WatchStream {
  readonly #parts: StreamParts
  readonly #sink: BodySink
  readonly #prefix: string
  /** Whether an event with the table's columns was sent; only the first one has them. */
  #columnsSent = false
  /** The next event to deliver. */
  #cursor = 0
  /** Whether the sink must drain before the next event. */
  #isBlocked = false
  #isBookmarkDue = false
  /** Set when the deadline, the client or the server has ended the watch. */
  #hasEnded = false
  /** Ends the waits of the initial events. Exists during such a wait only, because a watch does not need its memory otherwise. */
  #waiting: AbortController | undefined
  /** Continues a stream that waits for events. */
  #resume: (() => void) | undefined

  constructor(parts: StreamParts, sink: BodySink) {
    this.#parts = parts
    this.#sink = sink
    this.#prefix = parts.prefix
  }

  async run(): Promise<void> {
    const { endpoint, options, onCanceled } = this.#parts
    const { ended } = endpoint.resource.serving
    const millis = (options.timeoutSeconds ? options.timeoutSeconds : defaultTimeoutSeconds) * 1000
    const { clock } = endpoint.registry
    const deadline = clock.setTimer(millis, () => this.#end(), 'watch timeout')
    const end = (): void => this.#end()
    onCanceled(end)
    const stopListening = onAbort(ended, end)
    try {
      await this.#stream(clock.now() + millis)
    } finally {
      deadline.cancel()
      stopListening()
    }
  }

  #end(): void {
    this.#hasEnded = true
    this.#waiting?.abort()
    this.#resume?.()
  }

  /** Waits for the caches, until the watch ends. */
  async #wait(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#hasEnded) return
    this.#waiting = new AbortController()
    try {
      await wait(this.#waiting.signal)
    } finally {
      this.#waiting = undefined
    }
  }

  async #stream(deadline: number): Promise<void> {
    const { endpoint, options, cache } = this.#parts
    const bookmarks = options.allowBookmarks ? this.#remindOfBookmarks(deadline) : undefined
    try {
      const cursor = await this.#begin()
      if (cursor === undefined) return
      this.#cursor = cursor
      const first = cache.end
      while (!this.#hasEnded) {
        const isDone = this.#deliverReady()
        if (this.#isBlocked) {
          this.#isBlocked = false
          await this.#sink.drained()
        } else if (!isDone) {
          const event = cache.eventAt(this.#cursor)
          if (event === 'lost') return this.#sendError(this.#parts.start)
          if (event) await this.#load(event)
        } else if (this.#isBookmarkDue) {
          this.#isBookmarkDue = false
          if (endpoint.resource.origin.sendsBookmarksWhenIdle || this.#cursor > first)
            this.#bookmark(endpoint.registry.feed.revision, false)
        } else {
          await this.#waitAndDeliver()
        }
      }
    } catch (error) {
      if (error instanceof UnrepresentableEvent) return
      // An object that cannot be converted ends the watch: skipping it would hide it from the client forever.
      if (!isApiError(error)) throw error
      this.#sendEvent('ERROR', error.status)
    } finally {
      bookmarks?.[Symbol.dispose]()
    }
  }

  /**
   * Delivers the events after the cursor. Returns false, in front of the event, when one needs something else first: a conversion, the end
   * of a full sink, or an error because it is lost.
   */
  #deliverReady(): boolean {
    const { cache } = this.#parts
    for (;;) {
      const event = cache.eventAt(this.#cursor)
      if (!event) return true
      if (event === 'lost' || this.#needsConversion(event)) return false
      this.#cursor++
      if (this.#deliver(event)) continue
      this.#isBlocked = true
      return false
    }
  }

  /**
   * Delivers events as they come, without a promise for each. Resolves when an event needs something else, a bookmark is due or the watch
   * ends. The caller has delivered all events and has not awaited anything since.
   */
  #waitAndDeliver(): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          if (!this.#hasEnded && this.#deliverReady() && !this.#isBookmarkDue) return
          resolve()
        } catch (error) {
          reject(error)
        }
        unfollow()
        this.#resume = undefined
      }
      const unfollow = this.#parts.cache.follow(step)
      this.#resume = step
    })
  }

  /** Sends the initial events, if there are any. Returns the cursor at which the changes continue; undefined ends the watch. */
  async #begin(): Promise<number | undefined> {
    const { cache, options, start, endpoint } = this.#parts
    const { feed, store } = endpoint.registry
    const initial = options.sendInitialEvents ?? start === 0
    if (options.sendInitialEvents && start > feed.revision)
      await this.#wait((signal) => waitUntilFresh(endpoint.registry, start, signal))
    if (initial) {
      if (!cache.isChecked && this.#prefix === cache.prefix) await feed.checkAll(cache)
      if (options.resourceVersion === '' || options.sendInitialEvents) {
        const newest = await store.revision()
        if (newest > feed.revision) await this.#wait((signal) => feed.reached(newest, signal))
      }
      const cursor = cache.end
      const revision = feed.revision
      const objects = cache.list(this.#prefix)
      const seen = await servedObjects(endpoint.resource, objects)
      const { selection } = this.#parts
      const shown = selection.everything ? seen : seen.filter((_, i) => selection.matches(objects[i]!))
      for (const isFull of this.#sendAll(shown)) {
        // Changes during this wait are behind the cursor and are delivered afterwards.
        if (isFull) await this.#sink.drained()
        if (this.#hasEnded) return undefined
      }
      // As for a client that requested the initial events explicitly.
      if (options.watch && options.allowBookmarks) this.#bookmark(revision, true)
      return cursor
    }
    if (start === 0) return cache.end
    if (start > feed.revision) await this.#wait((signal) => feed.reached(start, signal))
    const cursor = cache.cursorAfter(start)
    if (cursor === undefined) this.#sendError(start)
    return cursor
  }

  #needsConversion({ object, previous }: CacheEvent): boolean {
    const { storage } = this.#parts.endpoint.resource.conversion
    if (!storage || !object.key.startsWith(this.#prefix)) return false
    return storage.peek(object) === undefined || (previous !== undefined && storage.peek(previous) === undefined)
  }

  /** Converts the objects of an event to the watcher's version, so that `peek` returns them. */
  async #load({ object, previous }: CacheEvent): Promise<void> {
    await servedObjects(this.#parts.endpoint.resource, previous ? [object, previous] : [object])
  }

  /** Sends an event unless the watcher does not see its object. A selector can turn a MODIFIED event into ADDED or DELETED. */
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
      const encoded = isProtobuf(representation)
        ? event.frame(type, (eventType, object) => encodeWatchFrame(representation.types, eventType, object))
        : event.line(type)
      return this.#sink.write(encoded)
    }
    return this.#send(type, event.objectFor(type))
  }

  /** Sends initial events. Yields after each write, with whether the sink is full. */
  *#sendAll(objects: readonly StoredObject[]): Iterable<boolean> {
    const { representation } = this.#parts
    if (!isProtobuf(representation) && representation.as === undefined) {
      for (const lines of storedLines('ADDED', objects)) yield !this.#sink.write(lines)
    } else {
      for (const object of objects) yield !this.#send('ADDED', object)
    }
  }

  #send(type: string, stored: StoredObject): boolean {
    const { representation, endpoint } = this.#parts
    if (!isProtobuf(representation)) {
      if (representation.as === undefined) return this.#sink.write(storedLine(type, stored))
      if (representation.as === 'PartialObjectMetadata' && !endpoint.resource.conversion.toInternal) {
        return this.#sink.write(eventLine(type, stored.metadataBytes(representation.asVersion!)))
      }
    }
    return this.#sendEvent(type, this.#represent(stored.object as MutableObject))
  }

  #sendEvent(type: string, object: unknown): boolean {
    const { representation } = this.#parts
    if (isProtobuf(representation)) return this.#sink.write(encodeWatchFrame(representation.types, type, object))
    return this.#sink.write(eventLine(type, Buffer.from(encodeJson(object))))
  }

  #represent(object: MutableObject): unknown {
    const { endpoint, representation, include } = this.#parts
    const apiVersion = representation.asVersion!
    if (representation.as === undefined) return object
    const { toInternal } = endpoint.resource.conversion
    if (representation.as === 'PartialObjectMetadataList') throw new UnrepresentableEvent()
    if (representation.as !== 'Table') return partialObjectMetadata(toInternal?.(object) ?? object, apiVersion)
    const now = endpoint.registry.clock.now()
    const table = endpoint.resource.presentation.table ?? defaultTable
    const headers = !this.#columnsSent
    this.#columnsSent = true
    return tableOf(table, [object], tableMetadata(object), { apiVersion, include, toInternal }, now, headers)
  }

  /** Sends the revision up to which the client has seen every change. */
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

  /**
   * Makes a bookmark due every minute and shortly before the deadline. For a client in this process, only minutes in which the store has
   * changed count.
   */
  #remindOfBookmarks(deadline: number): Disposable {
    const { endpoint, cache, isInProcess } = this.#parts
    const { clock, feed } = endpoint.registry
    const last = deadline - lastBookmarkMillis
    if (isInProcess) {
      const wake = (): void => {
        this.#isBookmarkDue = true
        cache.wake()
      }
      const shared = feed.bookmarks.add(wake)
      const before = clock.setTimer(Math.max(0, last - clock.now()), wake, 'last bookmark')
      return {
        [Symbol.dispose]: () => {
          shared[Symbol.dispose]()
          before.cancel()
        },
      }
    }
    let timer: Timer | undefined
    const schedule = (): void => {
      const now = clock.now()
      const next = Math.min(now + bookmarkMillis, last)
      // A timer can fire slightly early. The last one must not schedule itself again.
      timer = next > now ? clock.setTimer(next - now, () => due(next === last), 'bookmark') : undefined
    }
    const due = (isLast: boolean): void => {
      this.#isBookmarkDue = true
      // Only this stream: waking all watches of the resource once per watch and minute would take quadratic time.
      this.#resume?.()
      if (!isLast) schedule()
    }
    schedule()
    return { [Symbol.dispose]: () => timer?.cancel() }
  }
}
