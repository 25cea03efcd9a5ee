import { type AnyKind, type KubeObject, keyOf } from '@kubewright/api'
import { Deferred } from '@kubewright/base'
import { Change } from '../../cache/informer/change.ts'
import { callHandler, type EventHandler } from '../../cache/informer/event-handler.ts'
import type { HandlerRegistration } from '../../cache/informer/shared-informer.ts'
import type { ReflectorHealth } from '../../cache/reflector/reflector-health.ts'
import { HotObjects } from '../../cache/store/hot-objects.ts'
import type { Store } from '../../cache/store/store.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { CacheLease, CacheScope, ObjectCache } from '../../cluster/object-cache.ts'

/** The objects of one kind in a fake cache. Tests add and remove them; handlers are called at once. */
export class FakeKindCache {
  readonly objects = new Map<string, KubeObject>()
  readonly handlers = new Set<EventHandler<KubeObject>>()
  readonly scopes: (CacheScope | undefined)[] = []
  leases = 0
  health: ReflectorHealth = { state: 'starting', since: 0, failures: 0 }
  readonly #listed = new Deferred()

  get hasSynced(): boolean {
    return this.#listed.settled
  }

  get listed(): Promise<void> {
    return this.#listed.promise
  }

  /** Ends the initial list. */
  sync(): void {
    this.health = { state: 'watching', since: 0, failures: 0 }
    for (const handler of this.handlers) this.tellAll(handler)
    this.#listed.resolve()
  }

  put(object: KubeObject): KubeObject {
    const before = this.objects.get(keyOf(object))
    this.objects.set(keyOf(object), object)
    if (!this.hasSynced) return object
    for (const handler of this.handlers) {
      const sync = before?.metadata.resourceVersion === object.metadata.resourceVersion
      tell(handler, { key: keyOf(object), before, after: object, sync })
    }
    return object
  }

  remove(key: string): void {
    const object = this.objects.get(key)
    this.objects.delete(key)
    if (object === undefined) return
    for (const handler of this.handlers) tell(handler, { key, before: object, after: undefined, last: object })
  }

  resync(): void {
    for (const object of this.objects.values()) this.put(object)
  }

  tellAll(handler: EventHandler<KubeObject>): void {
    for (const object of this.objects.values()) {
      tell(handler, { key: keyOf(object), before: undefined, after: object, initial: true })
    }
  }

  lease(scope: CacheScope | undefined): CacheLease<KubeObject> {
    this.leases++
    this.scopes.push(scope)
    const own = new Set<EventHandler<KubeObject>>()
    const release = async (): Promise<void> => {
      this.leases--
      for (const handler of own) this.handlers.delete(handler)
    }
    const kind = this
    return {
      store: storeOf(this.objects),
      get hasSynced() {
        return kind.hasSynced
      },
      get health() {
        return kind.health
      },
      synced: () => this.listed,
      addHandler: (handler) => {
        this.handlers.add(handler)
        own.add(handler)
        if (this.hasSynced) this.tellAll(handler)
        return registration(this, () => this.handlers.delete(handler))
      },
      release,
      [Symbol.asyncDispose]: release,
    }
  }
}

type Parts = ConstructorParameters<typeof Change<KubeObject>>[1]

const hot = new HotObjects<KubeObject>(0)

function tell(handler: EventHandler<KubeObject>, parts: Omit<Parts, 'sync' | 'initial'> & Partial<Parts>): void {
  void callHandler(handler, new Change(hot, { sync: false, initial: false, ...parts }))
}

function registration(kind: FakeKindCache, remove: () => void): HandlerRegistration {
  return {
    synced: kind.listed,
    get hasSynced() {
      return kind.hasSynced
    },
    pending: 0,
    lag: 0,
    remove,
    [Symbol.dispose]: remove,
  }
}

function storeOf(objects: ReadonlyMap<string, KubeObject>): Store<KubeObject> {
  const unused = (): never => {
    throw new Error('The fake store has no indexes')
  }
  return {
    get size() {
      return objects.size
    },
    resourceVersion: '',
    get: (key) => objects.get(key),
    has: (key) => objects.has(key),
    keys: () => [...objects.keys()],
    list: () => [...objects.values()],
    addIndexer: unused,
    byIndex: unused,
    indexValues: unused,
  }
}

/** A cluster whose cache the test fills. It has no client. */
export interface FakeCluster extends Cluster {
  of(kind: AnyKind): FakeKindCache
}

export function fakeCluster(name = ''): FakeCluster {
  const kinds = new Map<string, FakeKindCache>()
  const of = (kind: AnyKind): FakeKindCache => {
    const id = `${kind.apiVersion} ${kind.kind}`
    const known = kinds.get(id) ?? new FakeKindCache()
    kinds.set(id, known)
    return known
  }
  // The fake stores plain objects for every kind.
  const cache = {
    use: (kind: AnyKind, scope?: CacheScope) => of(kind).lease(scope),
    absence: () => undefined,
    peek: (kind: AnyKind) => (of(kind).leases > 0 ? storeOf(of(kind).objects) : undefined),
    health: new Map(),
    start: () => undefined,
    waitForSync: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  } as ObjectCache
  const none = new Proxy({}, { get: (_, property) => unavailable(String(property)) })
  return {
    name,
    api: none as Cluster['api'],
    client: none as Cluster['client'],
    cache,
    namespaces: [],
    of,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function unavailable(property: string): never {
  throw new Error(`The fake cluster has no client, but ${property} was read`)
}
