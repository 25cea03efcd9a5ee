import { type AnyKind, type Infer, type KubeObject, keyOf } from '@kubewright/api'
import { CaughtError, formatDuration } from '@kubewright/base'
import type { Change } from '../../cache/informer/change.ts'
import type { CacheLease, CacheScope } from '../../cluster/object-cache.ts'
import type { Cause } from '../../queue/cause.ts'
import { lowPriority } from '../../queue/priority-queue.ts'
import type { AddOptions } from '../../queue/queue.ts'
import type { ControllerParts } from '../controller-parts.ts'
import { changedPaths, writersOf } from './changed-paths.ts'
import { forObject, type KeyMapping, type MapContext } from './key-mapping.ts'
import { KeyedRetries } from './keyed-retries.ts'
import { type Predicate, passesAdd, passesUpdate } from './predicate.ts'
import type { KeySink, RunningSource, Source } from './source.ts'

/** Options of {@link kindSource}. */
export interface KindSourceOptions<T extends KubeObject> {
  /** Maps an object to the keys that it concerns. @default `forObject` */
  readonly map?: KeyMapping<T> | undefined
  /** All of them must accept a change. They do not reduce the cache; `scope` does. */
  readonly predicates?: readonly Predicate<T>[] | undefined
  /** The objects to cache and watch. @default those of the cluster's namespaces */
  readonly scope?: CacheScope | undefined
  /**
   * Whether the kind may be missing. The start does not wait for an optional kind, its absence is no problem, and its
   * objects are watched once it is installed. @default false
   */
  readonly optional?: boolean | undefined
  /** The name in messages. @default the kind */
  readonly name?: string | undefined
  /** The priority of changes. Objects of the initial list and resyncs have at most -100. @default 0 */
  readonly priority?: number | undefined
}

/** A source that watches the objects of a kind through the cluster's cache. */
export function kindSource<K extends AnyKind>(kind: K, options: KindSourceOptions<Infer<K> & KubeObject> = {}): Source {
  return filteredKindSource(kind, options, () => undefined)
}

/** Holds back the updates that a controller made itself. */
export interface UpdateFilter {
  /** Whether updates of the object need to be filtered. Called for each update, so it must be cheap. */
  concerns(key: string): boolean
  /** Calls `admit`, now or later, unless the update to this version needs no reconcile. */
  filter(key: string, version: string, admit: () => void): void
  /** The object is deleted. */
  forget(key: string): void
}

/** A {@link kindSource} whose updates pass a filter, one for each run. */
export function filteredKindSource<K extends AnyKind>(
  kind: K,
  options: KindSourceOptions<Infer<K> & KubeObject>,
  filterOf: (parts: ControllerParts) => UpdateFilter | undefined,
): Source {
  const name = options.name ?? kind.kind
  return Object.freeze({
    name,
    kind,
    start: (sink: KeySink, parts: ControllerParts) =>
      new RunningKindSource(name, kind, options, sink, parts, filterOf(parts)),
  })
}

const stopped = (): Error => new CaughtError('the source was stopped')

class RunningKindSource<K extends AnyKind, T extends Infer<K> & KubeObject> implements RunningSource {
  readonly synced: Promise<void>
  readonly registrations: RunningSource['registrations']
  readonly #kindText: string
  readonly #map: KeyMapping<T>
  readonly #predicates: readonly Predicate<T>[]
  readonly #optional: boolean
  readonly #priority: number
  readonly #sink: KeySink
  readonly #parts: ControllerParts
  readonly #lease: CacheLease<T>
  readonly #retries: KeyedRetries
  #closed = false
  // Aborts when the source is disposed, so that no mapping waits any longer. Created for the first mapping that waits.
  #closing: AbortController | undefined

  readonly #filter: UpdateFilter | undefined
  readonly #context: MapContext

  constructor(
    name: string,
    kind: K,
    options: KindSourceOptions<T>,
    sink: KeySink,
    parts: ControllerParts,
    filter?: UpdateFilter,
  ) {
    this.#filter = filter
    this.#kindText = `${kind.apiVersion} ${kind.kind}`
    this.#map = options.map ?? forObject
    this.#predicates = options.predicates ?? []
    this.#optional = options.optional ?? false
    this.#priority = options.priority ?? 0
    this.#sink = sink
    this.#parts = parts
    this.#context = { client: parts.cluster.client, log: parts.log, synced: (other) => this.#synced(other) }
    this.#retries = new KeyedRetries(parts.clock, `mapping of ${name}`)
    // The cache holds objects of the type that the kind reads.
    this.#lease = parts.cluster.cache.use(kind, options.scope) as CacheLease<T>
    const registration = this.#lease.addHandler(
      { onChange: (change) => this.#onChange(change) },
      { name: `${sink.controller}/${name}` },
    )
    this.registrations = [registration]
    this.synced = this.#optional ? Promise.resolve() : registration.synced
    // Prevents an unhandled rejection when the source is disposed before the first list.
    registration.synced.catch(() => undefined)
  }

  problem(): string | undefined {
    const { state, message, fix } = this.#lease.health
    if (state !== 'failing') {
      const waits = !this.#optional && state === 'starting' && !this.#lease.hasSynced
      return waits ? `${this.#kindText} has not been listed yet` : undefined
    }
    if (this.#optional && this.#lease.health.missing) return undefined
    return [message ?? `${this.#kindText} cannot be watched`, fix].filter((text) => text !== undefined).join('. ')
  }

  rescan(): void {
    const { store } = this.#lease
    if (this.#map === forObject && this.#predicates.length === 0) {
      for (const key of store.keys()) void this.#changed('resync', { key, before: undefined, after: undefined }, true)
      return
    }
    for (const object of store.list()) {
      if (!passesAdd(this.#predicates, object)) continue
      void this.#changed('resync', { key: keyOf(object), before: undefined, after: object }, true)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#closing?.abort(stopped())
    this.#retries[Symbol.dispose]()
    for (const registration of this.registrations) registration.remove()
    await this.#lease.release()
  }

  // Objects are decoded only when a predicate or a mapping reads them.
  #onChange(change: Change<T>): void | Promise<void> {
    const predicates = this.#predicates
    switch (change.type) {
      case 'add':
        if (predicates.length > 0 && !passesAdd(predicates, change.after as T)) return undefined
        return this.#changed('add', change, change.initial)
      case 'update':
        if (predicates.length > 0 && !passesUpdate(predicates, change.before as T, change.after as T)) return undefined
        return change.sync ? this.#changed('resync', change, true) : this.#updated(change)
      case 'delete':
        this.#filter?.forget(change.key)
        return this.#changed('delete', new LastState(change), false)
    }
  }

  #updated(change: Change<T>): void | Promise<void> {
    const filter = this.#filter
    if (filter === undefined || !filter.concerns(change.key)) return this.#changed('update', change, false)
    const version = (change.after as T).metadata.resourceVersion
    filter.filter(change.key, version, () => void this.#changed('update', change, false))
  }

  #changed(event: Cause['event'], sides: Sides<T>, low: boolean): void | Promise<void> {
    const { key: object } = sides
    const cause: Cause =
      event === 'update'
        ? new UpdateCause(this.#kindText, sides as Sides<KubeObject>)
        : { event, kind: this.#kindText, object }
    const priority = low ? Math.min(this.#priority, lowPriority) : this.#priority
    if (this.#map === forObject) this.#sink.add(object, { cause, priority })
    else return this.#mapped(sides.before, sides.after as T, { cause, priority })
  }

  #synced(kind: AnyKind): Promise<void> | undefined {
    const { cache } = this.#parts.cluster
    if (cache.peek(kind)?.resourceVersion !== '') return undefined
    const lease = cache.use(kind)
    this.#closing ??= new AbortController()
    if (this.#closed) this.#closing.abort(stopped())
    return lease.synced({ signal: this.#closing.signal }).finally(() => lease.release())
  }

  // Maps both sides of the change and adds each key once. After a failure the mapping is retried with the same objects,
  // so that no change is lost.
  #mapped(before: T | undefined, after: T, options: AddOptions): void | Promise<void> {
    try {
      const now = this.#map(after, this.#context)
      const then = before === undefined || before === after ? none : this.#map(before, this.#context)
      if (!(now instanceof Promise) && !(then instanceof Promise)) this.#addAll(after, then, now, options)
      else
        return Promise.all([then, now]).then(
          (lists) => this.#addAll(after, lists[0], lists[1], options),
          (error: unknown) => this.#failed(error, before, after, options),
        )
    } catch (error) {
      this.#failed(error, before, after, options)
    }
  }

  #addAll(object: T, then: Iterable<string>, now: Iterable<string>, options: AddOptions): void {
    this.#retries.succeeded(keyOf(object))
    // Most mappings return one key at most.
    if (Array.isArray(then) && Array.isArray(now) && then.length <= 1 && now.length <= 1) {
      if (then.length === 1) this.#sink.add(then[0], options)
      if (now.length === 1 && now[0] !== then[0]) this.#sink.add(now[0], options)
      return
    }
    const keys = Array.isArray(then) && then.length === 0 ? new Set(now) : new Set([...then, ...now])
    for (const key of keys) this.#sink.add(key, options)
  }

  #failed(error: unknown, before: T | undefined, after: T, options: AddOptions): void {
    if (this.#closed) return
    const object = keyOf(after)
    const retryIn = formatDuration(this.#retries.plan(object, () => void this.#mapped(before, after, options)))
    this.#parts.log.error(error, 'Mapping a change to keys failed; retrying', { kind: this.#kindText, object, retryIn })
  }
}

const none: readonly string[] = []

/** The two sides of a change of one object. Reading them may decode them. */
interface Sides<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
}

/** A deletion, with the last state of the object. */
class LastState<T> implements Sides<T> {
  readonly key: string
  readonly before = undefined
  readonly #change: Change<T>

  constructor(change: Change<T>) {
    this.key = change.key
    this.#change = change
  }

  get after(): T | undefined {
    return this.#change.deleted?.object
  }
}

/**
 * A cause that compares the two objects on first read, because that often costs more than the reconcile. Queues hand it
 * out as a plain object.
 */
class UpdateCause implements Cause {
  readonly event = 'update'
  readonly kind: string
  readonly object: string
  readonly #sides: Sides<KubeObject>

  constructor(kind: string, sides: Sides<KubeObject>) {
    this.kind = kind
    this.object = sides.key
    this.#sides = sides
  }

  get paths(): readonly string[] {
    const { before, after } = this.#sides
    return before === undefined || after === undefined ? none : changedPaths(before, after)
  }

  get by(): readonly string[] {
    const { before, after } = this.#sides
    return before === undefined || after === undefined ? none : writersOf(before, after)
  }
}
