import { type KubeObject, keyOf, newResourceExpired, type ObjectMeta } from '@kubewright/api'
import { AsyncQueue, onAbort } from '@kubewright/base'
import { type EncodedObject, EncodedReader } from '@kubewright/client'
import type {
  Absence,
  ListPage,
  ListPageOptions,
  ListWatch,
  WatchEvent,
  WatchOptions,
} from '../reflector/list-watch.ts'
import type { Item } from '../store/item.ts'

/** An object with enough metadata for a store. */
export function objectOf(
  name: string,
  version: number,
  more: Partial<Pick<ObjectMeta, 'namespace' | 'uid' | 'labels' | 'managedFields'>> = {},
): KubeObject {
  const metadata = {
    name,
    uid: `uid-${name}`,
    resourceVersion: String(version),
    generation: 1,
    creationTimestamp: '',
    ...more,
  }
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata }
}

type Events = readonly WatchEvent<Item<KubeObject>>[]

const reader = new EncodedReader<KubeObject>({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  read: (json) => json as KubeObject,
})

/** An object as it is received from a server. */
export function encoded(object: KubeObject): EncodedObject<KubeObject> {
  // Surrounded by other bytes, as in a chunk of a stream.
  const bytes = Buffer.from(`[${JSON.stringify(object)}]`)
  const found = reader.read({ bytes }, 1, bytes.length)
  if (found === undefined) throw new Error('The object cannot be decoded')
  return found
}

/** An open watch of a `FakeSource`. A test can push events to it and end it. */
export interface FakeWatch {
  readonly options: WatchOptions
  readonly stream: AsyncQueue<Events>
}

/**
 * An in-memory resource that lists and watches like an API server. It records its requests. `fault` is called before
 * every request and may throw; `onWatch` may take over a new watch.
 */
export class FakeSource implements ListWatch<KubeObject> {
  readonly objects = new Map<string, KubeObject>()
  readonly requests: string[] = []
  readonly watches: FakeWatch[] = []
  fault: (verb: 'list' | 'watch', options: ListPageOptions | WatchOptions) => void = () => undefined
  // Returns false to send nothing: the test controls the watch.
  onWatch: (watch: FakeWatch) => boolean = () => true
  absence: (signal: AbortSignal) => Absence | undefined = () => undefined
  sendsBookmarks = true
  // Whether objects are returned encoded.
  encodes = false
  // Watches from versions below this one fail as expired.
  compacted = 0
  version = 1
  readonly #history: { readonly version: number; readonly event: WatchEvent<KubeObject> }[] = []

  set(name: string, more: Parameters<typeof objectOf>[2] = {}): KubeObject {
    const object = objectOf(name, ++this.version, { namespace: 'ns', ...more })
    const type = this.objects.has(keyOf(object)) ? 'MODIFIED' : 'ADDED'
    this.objects.set(keyOf(object), object)
    this.#publish({ type, object })
    return object
  }

  remove(name: string): void {
    const object = this.objects.get(`ns/${name}`)
    if (object === undefined) return
    this.objects.delete(`ns/${name}`)
    const metadata = { ...object.metadata, resourceVersion: String(++this.version) }
    this.#publish({ type: 'DELETED', object: { ...object, metadata } })
  }

  /** Removes an object without an event, as if every watch had missed it. */
  removeUnseen(name: string): void {
    this.objects.delete(`ns/${name}`)
    this.version++
  }

  bookmark(): void {
    this.#send([{ type: 'BOOKMARK', resourceVersion: String(this.version), initialEventsEnd: false }])
  }

  /** Ends all open watches, as a server does at their timeout, or makes them fail. */
  cut(error?: unknown): void {
    for (const { stream } of this.watches.splice(0)) error === undefined ? stream.close() : stream.fail(error)
  }

  list(options: ListPageOptions): Promise<ListPage<Item<KubeObject>>> {
    this.requests.push(
      `list rv=${options.resourceVersion}${options.limit === undefined ? '' : ` limit=${options.limit}`}${options.continue === undefined ? '' : ` continue=${options.continue}`}`,
    )
    return this.#guarded('list', options, () => {
      const all = [...this.objects.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const start = Number(options.continue ?? 0)
      const end = options.limit === undefined ? all.length : start + options.limit
      const more = end < all.length ? { continue: String(end) } : {}
      const items = all.slice(start, end).map((object) => this.#wire(object))
      return { items, resourceVersion: String(this.version), ...more }
    })
  }

  watch(options: WatchOptions): Promise<AsyncIterable<Events>> {
    this.requests.push(`watch rv=${options.resourceVersion}${options.sendInitialEvents ? ' initial' : ''}`)
    return this.#guarded('watch', options, () => {
      const from = Number(options.resourceVersion)
      if (from > 0 && from < this.compacted) throw newResourceExpired('too old resource version')
      const watch: FakeWatch = { options, stream: new AsyncQueue() }
      onAbort(options.signal, () => {
        const index = this.watches.indexOf(watch)
        if (index >= 0) this.watches.splice(index, 1)
        watch.stream.close()
      })
      if (this.onWatch(watch)) {
        if (options.sendInitialEvents) watch.stream.push(this.#initialEvents())
        else if (from > 0) {
          const missed = this.#history.filter((entry) => entry.version > from).map((entry) => entry.event)
          if (missed.length > 0) watch.stream.push(missed.map((event) => this.#wireEvent(event)))
        }
      }
      this.watches.push(watch)
      return watch.stream
    })
  }

  #initialEvents(): Events {
    const events: WatchEvent<Item<KubeObject>>[] = [...this.objects.values()].map((object) => {
      return { type: 'ADDED', object: this.#wire(object) }
    })
    if (this.sendsBookmarks) {
      events.push({ type: 'BOOKMARK', resourceVersion: String(this.version), initialEventsEnd: true })
    }
    return events
  }

  #publish(event: WatchEvent<KubeObject>): void {
    this.#history.push({ version: this.version, event })
    this.#send([event])
  }

  #send(events: readonly WatchEvent<KubeObject>[]): void {
    for (const { stream } of this.watches) {
      if (!stream.closed) stream.push(events.map((event) => this.#wireEvent(event)))
    }
  }

  #wire(object: KubeObject): Item<KubeObject> {
    return this.encodes ? encoded(object) : object
  }

  #wireEvent(event: WatchEvent<KubeObject>): WatchEvent<Item<KubeObject>> {
    return event.type === 'BOOKMARK' ? event : { ...event, object: this.#wire(event.object) }
  }

  async #guarded<R>(verb: 'list' | 'watch', options: ListPageOptions | WatchOptions, answer: () => R): Promise<R> {
    this.fault(verb, options)
    return answer()
  }
}
