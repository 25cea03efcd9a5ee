import { keyOf, newForbidden, parseSelector } from '@kubewright/api'
import { Deferred, nullLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { dynamicKind, metadataOnly } from '@kubewright/client'
import { ConfigMap, Namespace, Secret } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createObjectCache, type ObjectCacheOptions } from './create-object-cache.ts'
import { type EmbeddedServer, startEmbeddedServer } from './testdata/embedded-server.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startEmbeddedServer()
  const api = server.api()
  for (const name of ['a', 'a-b', 'c']) await api.create(Namespace({ metadata: { name } }))
  for (const [namespace, name, app] of [
    ['a', 'one', 'x'],
    ['a', 'two', 'y'],
    ['a-b', 'one', 'x'],
    ['c', 'one', 'x'],
  ] as const) {
    await api.create(ConfigMap({ metadata: { namespace, name, labels: { app } }, data: { namespace } }))
  }
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

function setUp(options: Partial<ObjectCacheOptions> = {}) {
  const clock = new VirtualClock()
  const watched: string[] = []
  const api = server.api()
  const client: ObjectCacheOptions['client'] = {
    encodedPage: (kind, page) => api.encodedPage(kind, page),
    watch: (kind, watch) => {
      watched.push(`${kind.plural} ${watch?.namespace || '*'} ${watch?.selector ?? ''}`.trim())
      return api.watch(kind, watch)
    },
  }
  const cache = createObjectCache({ client, clock, random: seededRandom(1), log: nullLogger, ...options })
  return { clock, api, cache, watched }
}

describe('createObjectCache()', () => {
  test('use() shares one watch between typed and dynamic kinds, and metadata readers join a full store', async () => {
    const { cache, watched } = setUp({ namespaces: ['a'] })
    const typed = cache.use(ConfigMap)
    const dynamic = cache.use(dynamicKind({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' }))
    const metadata = cache.use(metadataOnly(ConfigMap))
    expect([dynamic.store, metadata.store]).toEqual([typed.store, typed.store])
    cache.start()
    await typed.synced()
    expect(typed.store.keys()).toEqual(['a/one', 'a/two'])
    expect(watched).toEqual(['configmaps a'])
    await cache[Symbol.asyncDispose]()
  })

  test('use() creates a separate store for a full kind when only metadata is watched', async () => {
    const { cache, watched } = setUp({ namespaces: ['a'] })
    const metadata = cache.use(metadataOnly(ConfigMap))
    expect([cache.peek(ConfigMap), cache.peek(metadataOnly(ConfigMap))]).toEqual([undefined, metadata.store])
    const full = cache.use(ConfigMap)
    expect(full.store).not.toBe(metadata.store)
    cache.start()
    await cache.waitForSync({ timeout: '1m' })
    expect(metadata.store.get('a/one')).not.toHaveProperty('data')
    expect(full.store.get('a/one')?.data).toEqual({ namespace: 'a' })
    expect(cache.peek(metadataOnly(ConfigMap))).toBe(full.store)
    expect(watched).toHaveLength(2)
    await cache[Symbol.asyncDispose]()
  })

  test('use() of several namespaces returns one store with one watch each, ordered by key', async () => {
    const { cache, watched } = setUp({ namespaces: ['a', 'a-b'] })
    const { store, synced } = cache.use(ConfigMap)
    cache.start()
    expect(store.resourceVersion).toBe('')
    await synced()
    expect(watched.sort()).toEqual(['configmaps a', 'configmaps a-b'])
    expect(store.keys()).toEqual(['a-b/one', 'a/one', 'a/two'])
    expect([store.size, store.has('a/two'), store.has('c/one'), store.get('c/one')]).toEqual([
      3,
      true,
      false,
      undefined,
    ])
    const list = (query: object) => store.list(query).map(keyOf)
    expect(list({ namespace: 'a' })).toEqual(['a/one', 'a/two'])
    expect(list({ namespace: 'c' })).toEqual([])
    expect(list({ selector: parseSelector('app=x') })).toEqual(['a-b/one', 'a/one'])
    store.addIndexer('by-name', ({ metadata }) => [metadata.name])
    expect(store.byIndex('by-name', 'one').map(keyOf)).toEqual(['a-b/one', 'a/one'])
    expect(store.indexValues('by-name')).toEqual(['one', 'two'])
    expect(Number(store.resourceVersion)).toBeGreaterThan(0)
    await cache[Symbol.asyncDispose]()
  })

  test('addHandler() with several namespaces makes one call at a time', async () => {
    const { cache } = setUp({ namespaces: ['a', 'a-b', 'c'] })
    const lease = cache.use(ConfigMap)
    let running = 0
    let most = 0
    const seen: string[] = []
    const registration = lease.addHandler({
      async onAdd(object, { isInInitialList }) {
        most = Math.max(most, ++running)
        await Promise.resolve()
        seen.push(`${keyOf(object)} ${isInInitialList}`)
        running--
      },
    })
    expect(registration.hasSynced).toBe(false)
    cache.start()
    await registration.synced
    const last = new Deferred()
    lease.addHandler({ onUpdate: () => last.resolve() })
    await server.api().patch(ConfigMap, 'c/one', { data: { changed: 'yes' } })
    await last.promise
    expect(most).toBe(1)
    expect(seen.sort()).toEqual(['a-b/one true', 'a/one true', 'a/two true', 'c/one true'])
    await cache[Symbol.asyncDispose]()
  })

  test('release() of the last lease stops the watches; cluster-scoped kinds have one watch', async () => {
    const { cache, watched, clock } = setUp({ namespaces: ['a', 'c'] })
    const first = cache.use(ConfigMap)
    const second = cache.use(ConfigMap, { namespaces: ['c', 'a'] })
    const third = cache.use(ConfigMap, { namespaces: ['c'] })
    const cluster = cache.use(Namespace)
    cache.start()
    await cache.waitForSync({ timeout: '1m' })
    expect(watched.sort()).toEqual(['configmaps a', 'configmaps c', 'namespaces *'])
    await first.release()
    expect(cache.peek(ConfigMap)).toBe(second.store)
    await second.release()
    expect([cache.peek(ConfigMap), [...cache.health.keys()]]).toEqual([
      undefined,
      ['configmaps v1, namespace c', 'namespaces v1'],
    ])
    expect(third.store.size).toBeGreaterThan(0)
    await Promise.all([third.release(), cluster.release()])
    expect([cache.health.size, clock.pending]).toEqual([0, []])
  })

  test('peek() returns complete stores only; byKind restricts, extends and transforms', async () => {
    const { cache } = setUp({
      namespaces: ['a'],
      byKind: [
        { kind: ConfigMap, namespaces: ['c'], transform: (object) => ({ ...object, data: { transformed: 'yes' } }) },
        { kind: Secret, labelSelector: 'app=x' },
      ],
    })
    const lease = cache.use(ConfigMap)
    const narrow = cache.use(ConfigMap, { labelSelector: 'app = x' })
    const same = cache.use(ConfigMap, { labelSelector: 'app=x' })
    cache.use(Secret)
    expect(narrow.store).toBe(same.store)
    expect(cache.peek(ConfigMap)).toBe(lease.store)
    expect(cache.peek(Secret)).toBeUndefined()
    cache.start()
    await lease.synced()
    expect(lease.store.list().map(keyOf)).toEqual(['c/one'])
    expect(lease.store.get('c/one')?.data).toEqual({ transformed: 'yes' })
    await cache[Symbol.asyncDispose]()
  })

  test('resyncPeriod of a kind redelivers all objects to its handlers', async () => {
    const { cache, clock } = setUp({ namespaces: ['c'], byKind: [{ kind: ConfigMap, resyncPeriod: '30s' }] })
    const lease = cache.use(ConfigMap)
    const again: boolean[] = []
    const { synced } = lease.addHandler({ onUpdate: (_, __, { isResync }) => void again.push(isResync) })
    cache.start()
    await synced
    await clock.advance('61s')
    expect(again).toEqual([true, true])
    await cache[Symbol.asyncDispose]()
  })

  test('byKind limits the number of parsed objects', async () => {
    const { cache } = setUp({ namespaces: ['a'], byKind: [{ kind: ConfigMap, hotObjects: 0 }] })
    const cold = cache.use(ConfigMap)
    cache.start()
    await cold.synced()
    expect(cold.store.get('a/one')).toEqual(cold.store.get('a/one'))
    expect(cold.store.get('a/one')).not.toBe(cold.store.get('a/one'))
    await cache[Symbol.asyncDispose]()
  })

  test('waitForSync() and health name what is missing, and the fix', async () => {
    const refuse = () => Promise.reject(newForbidden({ group: '', resource: 'configmaps' }, '', new Error('no rights')))
    const client: ObjectCacheOptions['client'] = {
      encodedPage: refuse,
      watch: refuse,
    }
    const { cache, clock } = setUp({ client, namespaces: ['a', 'c'] })
    const lease = cache.use(ConfigMap)
    cache.start()
    const waiting = expect(cache.waitForSync({ timeout: '30s' })).rejects.toMatchObject({
      code: 'KW_CACHE_NOT_SYNCED',
      message: expect.stringMatching(
        /^Informers have not synced within 30s: configmaps v1, namespace a: .*no rights \(Grant this client the verbs list and watch on configmaps, .*; configmaps v1, namespace c: /,
      ),
    })
    await clock.advance('30s')
    await waiting
    expect([lease.hasSynced, lease.health.state]).toEqual([false, 'failing'])
    await cache[Symbol.asyncDispose]()
  })
})
