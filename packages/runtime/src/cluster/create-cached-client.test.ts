import { isConflict, isNotFound, type KubeObject } from '@kubewright/api'
import { memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import {
  type ApiClient,
  allNamespaces,
  ConnectionError,
  dynamicKind,
  metadataOnly,
  retryOnConflict,
} from '@kubewright/client'
import { ConfigMap, Deployment, Namespace, Pod } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gatedClient } from '../leases/gated-client.ts'
import { createCachedClient } from './create-cached-client.ts'
import { createObjectCache, type ObjectCacheOptions } from './create-object-cache.ts'
import { type EmbeddedServer, startEmbeddedServer } from './testdata/embedded-server.ts'
import { HeldWatches } from './testdata/held-watches.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startEmbeddedServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

let made = 0
/**
 * A client in its own namespace. Its cache contains the config maps of that namespace; the test controls when it
 * receives events.
 */
async function setUp(options: Partial<ObjectCacheOptions> = {}) {
  const namespace = `ns-${++made}`
  const api = server.api({ namespace, kinds: [ConfigMap, Deployment, Pod, Namespace] })
  await api.create(Namespace({ metadata: { name: namespace } }))
  const clock = new VirtualClock()
  const log = memoryLogger()
  const metrics: string[] = []
  const sink = {
    add: (name: string, labels: object) => void metrics.push(`${name} ${Object.values(labels).join(' ')}`),
    set: () => undefined,
    observe: () => undefined,
  }
  const watches = new HeldWatches(api)
  const namespaces = options.namespaces ?? [namespace]
  const random = seededRandom(1)
  const cache = createObjectCache({ client: watches.source, clock, random, log, ...options, namespaces })
  const client = createCachedClient({ api, cache, clock, log, metrics: sink, namespaces })
  const lease = cache.use(ConfigMap)
  const config = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) =>
    ConfigMap({ metadata: { name, labels }, data })
  const start = async () => {
    cache.start()
    await lease.synced()
    watches.hold()
  }
  /** Resolves when the store has received everything written so far. */
  const caughtUp = async () => {
    const last = await api.create(ConfigMap({ metadata: { name: `last-${++made}` } }))
    const seen = new Promise<void>((resolve) => {
      lease.addHandler({ onAdd: ({ metadata }) => void (metadata.name === last.metadata.name && resolve()) })
    })
    await watches.open()
    await seen
    await api.delete(ConfigMap, last.metadata.name)
  }
  const stop = async () => {
    client[Symbol.dispose]()
    await cache[Symbol.asyncDispose]()
  }
  return { namespace, api, clock, log, metrics, watches, cache, client, lease, config, start, caughtUp, stop }
}

/** Overrides some methods of a client. */
function overriding(api: ApiClient, methods: Partial<ApiClient>): ApiClient {
  const get = (target: ApiClient, name: string): unknown => {
    const value = Reflect.get(methods, name) ?? Reflect.get(target, name)
    return typeof value === 'function' ? value.bind(target) : value
  }
  return new Proxy(api, { get: get as NonNullable<ProxyHandler<ApiClient>['get']> })
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name

describe('createCachedClient()', () => {
  test('get(), find() and list() read cached kinds from the store, frozen, unless consistency says otherwise', async () => {
    const { api, client, lease, config, start, stop } = await setUp()
    await api.create(config('a', { color: 'blue' }))
    await start()
    const read = await client.get(ConfigMap, 'a')
    expect(read).toBe(lease.store.get(`${read.metadata.namespace}/a`))
    expect(Object.isFrozen(read.data)).toBe(true)
    await api.create(config('b'))
    expect(await client.find(ConfigMap, 'b')).toBeUndefined()
    await expect(client.get(ConfigMap, 'b')).rejects.toThrow('configmaps "b" not found')
    await expect(client.get(ConfigMap, 'b')).rejects.toSatisfy(isNotFound)
    expect((await client.list(ConfigMap)).map(nameOf)).toEqual(['a'])
    expect((await client.list(ConfigMap, { consistency: 'live' })).map(nameOf)).toEqual(['a', 'b'])
    expect((await client.get(ConfigMap, 'b', { consistency: 'live' })).metadata.name).toBe('b')
    await stop()
  })

  test('reads include own writes of every type at once, unless they ask for the cached state', async () => {
    const { client, config, start, watches, stop } = await setUp()
    await start()
    await client.create(config('a', { step: 'created' }))
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ step: 'created' })
    expect(await client.find(ConfigMap, 'a', { consistency: 'cached' })).toBeUndefined()
    expect(await client.list(ConfigMap, { consistency: 'cached' })).toEqual([])
    await client.update({ ...(await client.get(ConfigMap, 'a')), data: { step: 'updated' } })
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ step: 'updated' })
    await client.patch(ConfigMap, 'a', { data: { step: 'patched' } })
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ step: 'patched' })
    await client.apply(config('applied', { step: 'applied' }))
    expect((await client.list(ConfigMap)).map(nameOf)).toEqual(['a', 'applied'])
    await client.delete(ConfigMap, 'a')
    expect((await client.list(ConfigMap)).map(nameOf)).toEqual(['applied'])
    // Only now does the store receive the creation of the deleted object.
    await watches.release(2)
    expect((await client.get(ConfigMap, 'applied')).data).toEqual({ step: 'applied' })
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    await stop()
  })

  test('the store takes precedence as soon as it is newer, and the overlay empties', async () => {
    const { api, client, clock, config, start, caughtUp, stop } = await setUp()
    await start()
    const created = await client.create(config('a', { by: 'me' }))
    await api.update({ ...created, data: { by: 'another' } })
    await client.create(config('b'))
    await api.delete(ConfigMap, 'b')
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ by: 'me' })
    await caughtUp()
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ by: 'another' })
    expect(await client.find(ConfigMap, 'b')).toBeUndefined()
    await clock.advance('10s')
    expect([client.overlaySize, clock.pending.filter(({ label }) => label.startsWith('sweep'))]).toEqual([0, []])
    await stop()
  })

  test('an object with finalizers stays visible as returned until its last finalizer is removed', async () => {
    const { client, config, start, stop } = await setUp()
    await start()
    const draft = config('a')
    await client.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['example.com/keep'] } })
    const deleted = await client.delete(ConfigMap, 'a')
    expect(deleted?.metadata.deletionTimestamp).toBeDefined()
    expect((await client.get(ConfigMap, 'a')).metadata.deletionTimestamp).toBeDefined()
    await client.patch(ConfigMap, 'a', { metadata: { finalizers: null } })
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    await stop()
  })

  test('deleting an object that another client recreated hides both objects', async () => {
    const { api, client, config, start, watches, stop } = await setUp()
    await api.create(config('a', { nr: '1' }))
    await start()
    await api.delete(ConfigMap, 'a')
    await api.create(config('a', { nr: '2' }))
    await client.delete(ConfigMap, 'a')
    for (let step = 0; step < 4; step++) {
      expect(await client.find(ConfigMap, 'a')).toBeUndefined()
      await watches.release(1)
    }
    await stop()
  })

  test('deleteCollection() takes effect on reads at once', async () => {
    const { api, client, config, start, metrics, stop } = await setUp()
    for (const name of ['a', 'b', 'c']) await api.create(config(name, {}, { of: name }))
    await start()
    await client.deleteCollection(ConfigMap, { selector: 'of in (a, b)' })
    expect((await client.list(ConfigMap)).map(nameOf)).toEqual(['c'])
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    expect(metrics).toContain('kubewright_client_live_reads_total  ConfigMap outdated')
    await stop()
  })

  test('an object is read from the server after a conflict, so that a retry succeeds', async () => {
    const { api, client, config, start, stop } = await setUp()
    const created = await api.create(config('a', { n: '1' }))
    await start()
    await api.update({ ...created, data: { n: '2' } })
    const attempts: string[] = []
    await retryOnConflict(async () => {
      const { data, ...rest } = await client.get(ConfigMap, 'a')
      attempts.push(data?.['n'] ?? '')
      await client.update({ ...rest, data: { n: `${data?.['n']}!` } })
    })
    expect(attempts).toEqual(['1', '2'])
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ n: '2!' })
    // The live read stays visible: the store still has the first version.
    await expect(client.update({ ...created, data: {} })).rejects.toSatisfy(isConflict)
    await stop()
  })

  test('deleteCollection() reads the kind live when the server does not return the deleted objects', async () => {
    const { api, cache, clock, log, config, namespace, start, caughtUp, stop } = await setUp()
    for (const name of ['a', 'b']) await api.create(config(name))
    await start()
    const silent = overriding(api, {
      requestCollectionDeletion: async (kind, options) => {
        await api.requestCollectionDeletion(kind, options)
        return undefined
      },
    })
    const client = createCachedClient({ api: silent, cache, clock, log, namespaces: [namespace] })
    await client.deleteCollection(ConfigMap)
    expect(await client.list(ConfigMap)).toEqual([])
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    expect(client.overlaySize).toBeGreaterThan(0)
    await caughtUp()
    expect((await client.list(ConfigMap)).filter(({ metadata }) => metadata.name.length === 1)).toEqual([])
    await clock.advance('10s')
    expect(client.overlaySize).toBe(0)
    client[Symbol.dispose]()
    await stop()
  })

  test('an object is read from the server after a write whose response was lost', async () => {
    const { api, cache, clock, log, config, start, stop } = await setUp()
    await start()
    const lossy = overriding(api, {
      create: async (draft, options) => {
        await api.create(draft, options)
        throw new ConnectionError('the connection broke off', { host: 'test' })
      },
    })
    const client = createCachedClient({ api: lossy, cache, clock, log })
    await expect(client.create(config('a'))).rejects.toThrow('broke off')
    expect((await client.get(ConfigMap, 'a')).metadata.name).toBe('a')
    client[Symbol.dispose]()
    await stop()
  })

  test('a read with a resourceVersion, which may return an old state, hides no object and settles no doubt', async () => {
    const { api, cache, clock, log, config, start, stop } = await setUp()
    await start()
    const behind = overriding(api, {
      find: async (kind, key, options) =>
        options?.resourceVersion === '0' ? undefined : ((await api.find(kind, key, options)) as never),
      list: async (kind, options) =>
        options?.resourceVersion === '0' ? [] : ((await api.list(kind, options)) as never),
    })
    const client = createCachedClient({ api: behind, cache, clock, log })
    await client.create(config('a'))
    expect(await client.find(ConfigMap, 'a', { resourceVersion: '0' })).toBeUndefined()
    expect((await client.get(ConfigMap, 'a')).metadata.name).toBe('a')
    await api.delete(ConfigMap, 'a')
    await expect(client.patch(ConfigMap, 'a', { data: {} })).rejects.toThrow('not found')
    expect(await client.list(ConfigMap, { resourceVersion: '0' })).toEqual([])
    await client.find(ConfigMap, 'a', { resourceVersion: '0' })
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    client[Symbol.dispose]()
    await stop()
  })

  test('of concurrent writes the newest is visible, whichever response arrives last', async () => {
    const { client, config, start, stop } = await setUp()
    await start()
    await client.create(config('a'))
    const patches = Array.from({ length: 10 }, (_, n) => client.patch(ConfigMap, 'a', { data: { n: String(n) } }))
    const newest = (await Promise.all(patches)).reduce((a, b) =>
      Number(a.metadata.resourceVersion) > Number(b.metadata.resourceVersion) ? a : b,
    )
    expect(await client.get(ConfigMap, 'a')).toEqual(newest)
    // The patch may come first or too late; the deletion wins.
    await Promise.allSettled([
      client.patch(ConfigMap, 'a', { data: { n: 'last' } }),
      client.delete(ConfigMap, 'a'),
      client.get(ConfigMap, 'a', { consistency: 'live' }),
    ])
    expect(await client.find(ConfigMap, 'a')).toBeUndefined()
    await stop()
  })

  test('dry runs change nothing', async () => {
    const { api, client, config, start, stop } = await setUp()
    await api.create(config('a'))
    await start()
    await client.delete(ConfigMap, 'a', { dryRun: true })
    await client.create(config('b'), { dryRun: true })
    expect((await client.list(ConfigMap)).map(nameOf)).toEqual(['a'])
    expect(client.overlaySize).toBe(0)
    await stop()
  })

  test('list() evaluates labels, selectors, where and fields on the store, including own writes', async () => {
    const { api, client, cache, start, namespace, stop } = await setUp()
    const deployment = (name: string, replicas: number, app: string) =>
      Deployment({
        metadata: { name, labels: { app } },
        spec: {
          replicas,
          selector: { matchLabels: { app } },
          template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      })
    await api.create(deployment('a', 1, 'x'))
    await api.create(deployment('b', 2, 'x'))
    const lease = cache.use(Deployment)
    await start()
    await lease.synced()
    await client.create(deployment('c', 2, 'y'))
    const names = async (options: object) => (await client.list(Deployment, options)).map(nameOf)
    expect(await names({ labels: { app: 'x' } })).toEqual(['a', 'b'])
    expect(await names({ selector: 'app!=x' })).toEqual(['c'])
    expect(await names({ where: { 'spec.replicas': 2 } })).toEqual(['b', 'c'])
    expect(await names({ where: { 'spec.replicas': '2' } })).toEqual([])
    expect(await names({ where: { 'spec.paused': undefined }, labels: { app: 'x' } })).toEqual(['a', 'b'])
    expect(await names({ fields: { 'metadata.name': 'c' } })).toEqual(['c'])
    expect(await names({ fieldSelector: 'metadata.name!=a' })).toEqual(['b', 'c'])
    expect(await names({ namespace })).toEqual(['a', 'b', 'c'])
    await client.update({ ...(await client.get(Deployment, 'b')), metadata: { name: 'b', namespace, labels: {} } })
    expect(await names({ labels: { app: 'x' } })).toEqual(['a'])
    await stop()
  })

  test('reports a kind that is often read without being cached, once and with the fix', async () => {
    const { client, log, start, stop } = await setUp()
    await start()
    for (let i = 0; i < 50; i++) await client.list(Pod, i % 2 === 0 ? { consistency: 'live' } : {})
    expect(log.records.filter(({ values }) => values?.['fix'] !== undefined)).toMatchObject([
      {
        message: 'Kind is not cached, and each read of it is a request',
        values: { kind: 'Pod', reads: 20, fix: expect.stringContaining('add reads: [Pod] to the controller') },
      },
    ])
    await stop()
  })

  test('kinds that are not cached are read from the server, which is logged once per kind', async () => {
    const { client, log, metrics, start, namespace, stop } = await setUp()
    await start()
    await client.list(Pod)
    await client.find(Pod, 'none')
    expect((await client.get(Namespace, namespace)).metadata.name).toBe(namespace)
    expect(log.records.filter(({ message }) => message.includes('not cached')).map(({ values }) => values)).toEqual([
      { group: '', kind: 'Pod' },
      { group: '', kind: 'Namespace' },
    ])
    expect(metrics.filter((line) => line.endsWith('Pod not_cached'))).toHaveLength(2)
    await stop()
  })

  test('objects outside the namespaces of the cache are read from the server', async () => {
    const { client, start, stop } = await setUp()
    await start()
    await server.api().create(ConfigMap({ metadata: { name: 'elsewhere', namespace: 'default' } }))
    expect(nameOf(await client.get(ConfigMap, 'default/elsewhere'))).toBe('elsewhere')
    expect((await client.list(ConfigMap, { namespace: allNamespaces })).map(nameOf)).toContain('elsewhere')
    expect(await client.list(ConfigMap)).toEqual([])
    await stop()
  })

  test('typed, dynamic and metadata-only kinds share a store, and reads of each include own writes', async () => {
    const { client, config, lease, start, stop } = await setUp()
    await start()
    const Dynamic = dynamicKind({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' })
    const Metadata = metadataOnly(ConfigMap)
    const created = await client.create(config('a', { x: '1' }))
    expect(await client.get(Dynamic, 'a')).toEqual(created)
    expect((await client.get(Metadata, 'a')).metadata).toEqual(created.metadata)
    await client.patch(Metadata, 'a', { metadata: { labels: { patched: 'yes' } } })
    expect((await client.get(ConfigMap, 'a')).metadata.labels).toEqual({ patched: 'yes' })
    expect((await client.get(ConfigMap, 'a')).data).toEqual({ x: '1' })
    expect(lease.store.size).toBe(0)
    await stop()
  })

  test('writes of the scale and status subresources are visible', async () => {
    const { api, client, cache, start, stop } = await setUp()
    const lease = cache.use(Deployment)
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    await api.create(Deployment({ metadata: { name: 'a' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }))
    await start()
    await lease.synced()
    await client.subresource(Deployment, 'scale').patch('a', { spec: { replicas: 7 } })
    expect((await client.get(Deployment, 'a')).spec?.replicas).toBe(7)
    await client.subresource(Deployment, 'status').patch('a', { status: { observedGeneration: 2 } })
    expect((await client.get(Deployment, 'a')).status?.observedGeneration).toBe(2)
    await stop()
  })

  test('writes are rejected while the gate is closed', async () => {
    const { api, client, config, start, stop } = await setUp()
    await start()
    const gate = {
      assertOpen: () => {
        throw new Error('not the leader')
      },
    }
    const gated = gatedClient(client, gate)
    for (const write of [
      () => gated.create(config('a')),
      () => gated.delete(ConfigMap, 'a'),
      () => gated.deleteCollection(ConfigMap),
      () => gated.subresource(ConfigMap, 'status').patch('a', {}),
    ]) {
      await expect(async () => write()).rejects.toThrow('not the leader')
    }
    expect(await api.list(ConfigMap)).toEqual([])
    await stop()
  })

  test('an own write that the store never receives expires at its deadline with a warning', async () => {
    const { client, clock, config, log, metrics, start, stop } = await setUp()
    await start()
    await client.create(config('a'))
    await clock.advance('4m')
    expect((await client.get(ConfigMap, 'a')).metadata.name).toBe('a')
    await clock.advance('70s')
    expect(client.overlaySize).toBe(0)
    expect(log.records.some(({ message }) => message.startsWith('Own writes expired'))).toBe(true)
    expect(metrics).toContain('kubewright_client_overlay_expired_total  ConfigMap')
    await stop()
  })

  test('own writes lack the fields that the cache drops', async () => {
    const { client, config, start, stop } = await setUp({ dropManagedFields: true })
    await start()
    const created = await client.create(config('a', { x: '1' }))
    expect(created.metadata.managedFields).toBeDefined()
    expect((await client.get(ConfigMap, 'a')).metadata.managedFields).toBeUndefined()
    await stop()
  })
})
