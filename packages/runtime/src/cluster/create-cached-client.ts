import {
  type AnyKind,
  findCause,
  formatGroupKind,
  formatKey,
  type GroupVersionKind,
  type GroupVersionResource,
  gvkOf,
  isAlreadyExists,
  isApiError,
  isConflict,
  isGone,
  isKind,
  isNotFound,
  type KubeObject,
  newNotFound,
  type TypeMeta,
  toNameAndNamespace,
} from '@kubewright/api'
import { type Clock, type Duration, deepFreeze, type Logger, type MetricSink } from '@kubewright/base'
import {
  type ApiClient,
  type ApplyOptions,
  type AttachOptions,
  allNamespaces,
  type CallOptions,
  type Client,
  type CollectionDeletion,
  checkIndex,
  type DeleteCollectionOptions,
  type DeleteOptions,
  type Deletion,
  type DynamicKind,
  type ExecOptions,
  type ForwardedPort,
  type GetOptions,
  isMetadataOnly,
  type Key,
  type ListAllOptions,
  type LogOptions,
  metadataOnly,
  type Page,
  type PageOptions,
  type PatchOptions,
  type RemoteCommand,
  type SubresourceClient,
  type WatchOptions,
  type WatchStream,
  type WriteOptions,
} from '@kubewright/client'
import { hasReached } from '../cache/store/version-order.ts'
import { CachedClientMetrics, type LiveReason } from './cached-client-metrics.ts'
import { inOrder } from './in-order.ts'
import type { CacheContents, CachedStore } from './object-cache.ts'
import { OwnWrites, type WriteTarget } from './own-writes.ts'
import { implies, impliesKey } from './selection.ts'
import { matchesQuery, queryStore, selectorOf, storedQuery } from './stored-query.ts'
import type { Overlaid } from './write-overlay.ts'

// So many reads of a kind outside the cache are a habit, and not a rare look-up.
const manyReads = 20

/** Options of {@link createCachedClient}. */
export interface CachedClientOptions {
  /** Sends all writes, and the reads that bypass the cache. */
  readonly api: ApiClient
  readonly cache: CacheContents
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** The namespaces of lists without a namespace; empty for all. @default all */
  readonly namespaces?: readonly string[] | undefined
  /** How long reads include an own write that the cache has not received. @default '5m' */
  readonly overlayDeadline?: Duration | undefined
}

/** A client that reads from a cache. Disposing it cancels its timer; the cache and the API client stay open. */
export interface CachedClient extends Client, Disposable {
  /** The number of own writes that the cache has not received yet. */
  readonly overlaySize: number
}

/**
 * Creates a client that reads cached kinds from the cache, including its own writes, and sends all other requests to
 * the server.
 *
 * - A read that starts after a write of this client has resolved returns that write or a newer state. A deleted object
 *   does not reappear.
 * - After a write that the server rejected as outdated, or whose response was lost, the object is read from the server,
 *   so a retry needs no delay.
 * - All objects, including the results of writes, are deeply frozen.
 */
export function createCachedClient(options: CachedClientOptions): CachedClient {
  return new CachingClient(options)
}

type ObjectLike = Readonly<TypeMeta> & {
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined
}

interface Writing {
  readonly dryRun?: boolean | undefined
}

class CachingClient implements CachedClient {
  readonly #api: ApiClient
  readonly #options: CachedClientOptions
  readonly #namespaces: readonly string[]
  readonly #log: Logger
  readonly #metrics: CachedClientMetrics
  readonly #writes: OwnWrites
  readonly #uncachedReads = new Map<string, number>()

  constructor(options: CachedClientOptions) {
    const { api, cache, clock, log, overlayDeadline: deadline = '5m' } = options
    this.#api = api
    this.#options = options
    this.#namespaces = options.namespaces ?? []
    this.#log = log.withName('client')
    this.#metrics = new CachedClientMetrics(options.metrics)
    this.#writes = new OwnWrites({ cache, clock, log: this.#log, metrics: this.#metrics, deadline })
  }

  get overlaySize(): number {
    return this.#writes.size
  }

  [Symbol.dispose](): void {
    this.#writes[Symbol.dispose]()
  }

  // As in the API client, the server guarantees the types of a kind: the interface turns `never` into those types.

  async get(kind: AnyKind, key: Key, options: GetOptions = {}): Promise<never> {
    const held = this.#held(kind, key, options)
    if (!held.isLive) {
      if (held.object !== undefined) return held.object as never
      throw newNotFound({ group: kind.group, resource: kind.plural }, toNameAndNamespace(key).name)
    }
    try {
      return held.answered(await this.#api.get(kind, key, options))
    } catch (error) {
      if (isNotFound(error) && !findCause(error, 'UnexpectedServerResponse')) held.answered(undefined)
      throw error
    }
  }

  async find(kind: AnyKind, key: Key, options: GetOptions = {}): Promise<never> {
    const held = this.#held(kind, key, options)
    return held.isLive ? held.answered(await this.#api.find(kind, key, options)) : (held.object as never)
  }

  // No await between the read of the store and that of the overlay: both must show the same moment.
  async list(kind: AnyKind, options: ListAllOptions = {}): Promise<readonly never[]> {
    options.signal?.throwIfAborted()
    const namespaces = this.#scope(kind, options.namespace)
    if (selectorOf(options).isNothing) return []
    if (options.index !== undefined) checkIndex(options.index, kind)
    const candidates = this.#candidates(kind, namespaces)
    const query = candidates.length === 0 ? undefined : storedQuery(kind, options)
    const answers = ({ selection }: CachedStore): boolean =>
      selection === undefined || selection.outside === 'absent' || (query !== undefined && implies(query, selection))
    const cached = candidates.find(answers)
    const overlay = cached === undefined || options.consistency === 'cached' ? undefined : this.#writes.of(cached)
    const isUnsure = overlay !== undefined && inEach(namespaces).some((namespace) => overlay.isUnsure(namespace))
    const unselected = cached === undefined && candidates.length > 0 ? 'not_selected' : undefined
    const reason = this.#liveReason(cached, options, isUnsure, unselected)
    if (cached !== undefined && query !== undefined && reason === undefined) {
      const scope = sameNames(namespaces, cached.namespaces) ? [] : namespaces
      const found = inEach(scope).flatMap((namespace) => queryStore(cached.store, query, namespace))
      const meant = (object: KubeObject): boolean =>
        (scope.length === 0 || scope.includes(object.metadata.namespace ?? '')) && matchesQuery(query, object)
      return Object.freeze(inOrder(overlay?.overlaid(found, meant) ?? found)) as readonly never[]
    }
    this.#recordLive(kind, reason ?? 'asked')
    const learns = cached !== undefined && isAlike(cached, kind) && isOfNewest(options)
    const answered = learns ? this.#writes.listing(cached) : () => undefined
    const lists = await Promise.all(
      inEach(namespaces).map((namespace) => this.#api.list(kind, { ...options, namespace }) as Promise<KubeObject[]>),
    )
    const objects = deepFreeze(inOrder(lists.flat())) as readonly never[]
    answered(objects)
    return objects
  }

  async *pages(kind: AnyKind, options: PageOptions = {}): AsyncGenerator<Page<never>, void, undefined> {
    for (const namespace of inEach(this.#scope(kind, options.namespace))) {
      for await (const page of this.#api.pages(kind, { ...options, namespace })) yield deepFreeze(page) as Page<never>
    }
  }

  async watch(kind: AnyKind, options: WatchOptions = {}): Promise<WatchStream<never>> {
    const [namespace = allNamespaces, ...others] = this.#scope(kind, options.namespace)
    if (others.length > 0) {
      throw new TypeError(`Cannot watch ${kind.kind} in several namespaces at once: name one, or use the cache`)
    }
    return this.#api.watch(kind, { ...options, namespace }) as Promise<WatchStream<never>>
  }

  create(draft: ObjectLike, options: WriteOptions = {}): Promise<never> {
    return this.#writeObject(draft, options, () => this.#api.create(draft, options))
  }

  update(object: ObjectLike, options: WriteOptions = {}): Promise<never> {
    return this.#writeObject(object, options, () => this.#api.update(object, options))
  }

  patch(kind: AnyKind, key: Key, patch: object | string, options: PatchOptions = {}): Promise<never> {
    const send = () => this.#api.patch(kind, key, patch, options) as Promise<KubeObject>
    return this.#write(this.#target(kind, key), options, send, (answer) => {
      this.#writes.wrote(answer, isMetadataOnly(kind))
    })
  }

  apply(first: ObjectLike | AnyKind, second?: object, third: ApplyOptions = {}): Promise<never> {
    if (!isKind(first)) {
      const options = (second ?? {}) as ApplyOptions
      return this.#writeObject(first, options, () => this.#api.apply(first, options))
    }
    // The interface requires that the partial object contains its name.
    const partial = { apiVersion: first.apiVersion, kind: first.kind, ...second } as ObjectLike
    return this.#writeObject(partial, third, () => this.#api.apply(first, partial as never, third))
  }

  async delete(kind: AnyKind, key: Key, options: DeleteOptions = {}): Promise<never> {
    const target = this.#target(kind, key)
    const done = this.#writes.deleting(target)
    const uid = options.preconditions?.uid
    const send = () => this.#api.requestDeletion(kind, key, options)
    const deletion: Deletion<KubeObject> = await this.#write(target, options, send, (answer) => {
      done(uid === undefined ? answer : { uid, ...answer })
    })
    return deletion.object as never
  }

  async deleteCollection(kind: AnyKind, options: DeleteCollectionOptions = {}): Promise<void> {
    const namespace = kind.scope === 'Cluster' ? '' : (options.namespace ?? this.#api.namespace)
    const done = this.#writes.deletingAll(kind, namespace, selectorOf(options))
    let deletion: CollectionDeletion<KubeObject> | undefined
    try {
      deletion = await this.#api.requestCollectionDeletion(kind, { ...options, namespace })
    } catch (error) {
      // Some objects may have been deleted; the response does not say which.
      if (!this.#isDry(options)) await this.#distrust(kind)
      throw error
    }
    if (this.#isDry(options)) return
    if (deletion === undefined) await this.#distrust(kind)
    else done(deletion)
  }

  subresource<K extends AnyKind, N extends string>(kind: K, name: N): SubresourceClient<K, N> {
    const api = this.#api.subresource(kind, name) as unknown as SubresourceClient<AnyKind, string>
    const write = (key: Key, options: Writing, send: () => Promise<unknown>): Promise<never> => {
      const target = this.#target(kind, key)
      return this.#write(target, options, send as () => Promise<KubeObject>, (answer) => {
        if (answer.apiVersion === kind.apiVersion && answer.kind === kind.kind) this.#writes.wrote(answer)
        // Creating a token does not change the ServiceAccount.
        else if (name !== 'token') this.#writes.touched(target, answer.metadata?.resourceVersion)
      })
    }
    const client: SubresourceClient<AnyKind, string> = {
      get: (key, options) => api.get(key, options),
      create: (key, body, options = {}) => write(key, options, () => api.create(key, body, options)),
      update: (body, options = {}) => {
        const { metadata } = body as unknown as KubeObject
        return write(metadata, options, () => api.update(body, options))
      },
      patch: (key, patch, options = {}) => write(key, options, () => api.patch(key, patch, options)),
      apply: (key, partial, options = {}) => write(key, options, () => api.apply(key, partial, options)),
    }
    return client as unknown as SubresourceClient<K, N>
  }

  logs(pod: Key, options?: LogOptions): AsyncIterable<string> {
    return this.#api.logs(pod, options)
  }

  exec(pod: Key, options: ExecOptions): Promise<RemoteCommand> {
    return this.#api.exec(pod, options)
  }

  attach(pod: Key, options?: AttachOptions): Promise<RemoteCommand> {
    return this.#api.attach(pod, options)
  }

  portForward(pod: Key, port: number, options?: CallOptions): Promise<ForwardedPort> {
    return this.#api.portForward(pod, port, options)
  }

  kind(name: GroupVersionKind, options?: CallOptions): Promise<DynamicKind> {
    return this.#api.kind(name, options)
  }

  resource(name: GroupVersionResource, options?: CallOptions): Promise<DynamicKind> {
    return this.#api.resource(name, options)
  }

  /** Returns the cached object of a key or, if it must be read from the server, a function that processes the response. */
  #held(kind: AnyKind, key: Key, options: GetOptions): Held {
    options.signal?.throwIfAborted()
    const { name, namespace } = this.#target(kind, key)
    const storeKey = formatKey(name, namespace)
    const isCached = options.consistency === 'cached'
    const held = this.#newest(this.#candidates(kind, [namespace]), storeKey, isCached)
    const { cached, object } = held ?? { cached: undefined, object: undefined }
    const { selection } = cached ?? {}
    // A key that is missing from a selection may exist on the server.
    const isOutside = selection !== undefined && object === undefined && selection.outside === 'live'
    const unselected = isOutside && !impliesKey(name, namespace, selection) ? 'not_selected' : undefined
    const reason = this.#liveReason(cached, options, object === 'unsure', unselected)
    if (reason === undefined && object !== 'unsure' && name !== '') return { isLive: false, object }
    this.#recordLive(kind, reason ?? 'asked')
    const learns = cached !== undefined && isAlike(cached, kind) && isOfNewest(options)
    const learn = learns ? this.#writes.reading(cached, storeKey) : () => undefined
    const answered = (answer: KubeObject | undefined): never => {
      deepFreeze(answer)
      learn(answer)
      return answer as never
    }
    return { isLive: true, answered }
  }

  /**
   * The stores that contain objects of a kind in these namespaces, in the kind's version and form. Those with all objects
   * come first, and full objects before metadata.
   */
  #candidates(kind: AnyKind, namespaces: readonly string[]): readonly CachedStore[] {
    const all = this.#options.cache.contents(kind)
    const found = all.filter(
      (cached) =>
        cached.kind.version === kind.version &&
        (!cached.isMetadataOnly || isMetadataOnly(kind)) &&
        (cached.selection?.outside === 'absent' || covers(cached.namespaces, namespaces)),
    )
    return found.length < 2 ? found : found.sort((a, b) => rank(a) - rank(b))
  }

  /**
   * The value of a key in the first store with all objects, or else the newest value in the stores with a selection: an
   * object may move from one selection to another.
   */
  #newest(candidates: readonly CachedStore[], key: string, isCached: boolean): Value | undefined {
    let best: Value | undefined
    for (const cached of candidates) {
      const overlay = isCached ? undefined : this.#writes.of(cached)
      const value = { cached, object: overlay === undefined ? cached.store.get(key) : overlay.get(key) }
      if (cached.selection === undefined || cached.selection.outside === 'absent') return value
      if (best === undefined || isNewer(value.object, best.object)) best = value
    }
    return best
  }

  #liveReason(
    cached: CachedStore | undefined,
    { consistency, resourceVersion }: GetOptions,
    isUnsure: boolean,
    unselected: 'not_selected' | undefined,
  ): LiveReason | undefined {
    if (consistency === 'live' || resourceVersion !== undefined) return 'asked'
    if (cached === undefined) return unselected ?? 'not_cached'
    if (cached.store.resourceVersion === '') return 'not_synced'
    return isUnsure ? 'outdated' : unselected
  }

  #recordLive(kind: AnyKind, reason: LiveReason): void {
    this.#metrics.liveRead(kind, reason)
    const name = formatGroupKind(kind)
    if (reason !== 'not_cached') return
    const reads = (this.#uncachedReads.get(name) ?? 0) + 1
    this.#uncachedReads.set(name, reads)
    const what = { group: kind.group, kind: kind.kind }
    if (reads === 1) this.#log.debug('Kind is not cached; reading it from the server', what)
    if (reads === manyReads) {
      const fix = `add reads: [${kind.kind}] to the controller to cache it, or pass consistency: 'live' if it must not be cached`
      this.#log.info('Kind is not cached, and each read of it is a request', { ...what, reads, fix })
    }
  }

  /** The namespaces of a read; empty for all. */
  #scope(kind: AnyKind, namespace: string | undefined): readonly string[] {
    if (kind.scope === 'Cluster' || namespace === allNamespaces) return []
    return namespace === undefined ? this.#namespaces : [namespace]
  }

  #target(kind: AnyKind, key: Key): WriteTarget {
    const { name, namespace = this.#api.namespace } = toNameAndNamespace(key)
    return { type: kind, name, namespace: kind.scope === 'Cluster' ? '' : namespace }
  }

  #writeObject(object: ObjectLike, options: Writing, send: () => Promise<unknown>): Promise<never> {
    const { name = '', namespace = this.#api.namespace } = object.metadata ?? {}
    const target = { type: gvkOf(object), name, namespace }
    // A written object has metadata, so the response has too.
    return this.#write(target, options, send as () => Promise<KubeObject>, (answer) => this.#writes.wrote(answer))
  }

  async #write<T extends object>(
    target: WriteTarget,
    options: Writing,
    send: () => Promise<T>,
    note: (answer: T) => void,
  ): Promise<never> {
    try {
      const answer = await send()
      deepFreeze(answer)
      if (!this.#isDry(options)) note(answer)
      return answer as never
    } catch (error) {
      if (!this.#isDry(options) && target.name !== '' && invalidatesCache(error)) this.#writes.touched(target)
      throw error
    }
  }

  #isDry({ dryRun = this.#api.dryRun }: Writing): boolean {
    return dryRun
  }

  /** Reads a kind from the server until the cache has reached the server's current version. */
  async #distrust(kind: AnyKind): Promise<void> {
    if (this.#options.cache.contents(kind).length === 0) return
    // Not a version, so the cache never reaches it: the distrust ends at its deadline.
    let version = 'unknown'
    try {
      for await (const page of this.#api.pages(metadataOnly(kind), { namespace: allNamespaces, pageSize: 1 })) {
        version = page.resourceVersion
        break
      }
    } catch (error) {
      this.#log.debug('Cannot read the version of a collection', { kind: kind.kind, error })
    }
    this.#writes.changedAll(kind, version)
  }
}

/** The value of a key in a store, including own writes. */
interface Value {
  readonly cached: CachedStore
  readonly object: Overlaid
}

const rank = ({ selection, isMetadataOnly }: CachedStore): number =>
  (selection === undefined || selection.outside === 'absent' ? 0 : 2) + (isMetadataOnly ? 1 : 0)

function isNewer(a: Overlaid, b: Overlaid): boolean {
  if (a === undefined || b === 'unsure') return false
  if (a === 'unsure' || b === undefined) return true
  return !hasReached(b.metadata.resourceVersion, a.metadata.resourceVersion)
}

type Held =
  | { readonly isLive: false; readonly object: KubeObject | undefined }
  | { readonly isLive: true; readonly answered: (answer: KubeObject | undefined) => never }

/** Whether the server returns objects of a kind in the form of the store. */
const isAlike = (cached: CachedStore, kind: AnyKind): boolean => cached.isMetadataOnly === isMetadataOnly(kind)

/** Whether a read requests the newest state. Other versions may lack own writes. */
const isOfNewest = ({ resourceVersion }: GetOptions): boolean => resourceVersion === undefined

const covers = (has: readonly string[], wanted: readonly string[]): boolean =>
  has.length === 0 || (wanted.length > 0 && wanted.every((namespace) => has.includes(namespace)))

const sameNames = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && covers(b, a)

/** One request per namespace, or one for all namespaces. */
const inEach = (namespaces: readonly string[]): readonly string[] =>
  namespaces.length === 0 ? [allNamespaces] : namespaces

/** Whether a failed write means that the cached object is outdated, or leaves the outcome of the write unknown. */
function invalidatesCache(error: unknown): boolean {
  if (!isApiError(error)) return !(error instanceof TypeError)
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error) || isGone(error) || error.statusCode >= 500
}
