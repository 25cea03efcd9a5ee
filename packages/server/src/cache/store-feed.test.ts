import { nullLogger, VirtualClock } from '@kubewright/base'
import { MemoryStore, type Store } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { StoreFeed } from './store-feed.ts'

const bytes = (name: string): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: 'X', apiVersion: 'v1', metadata: { name } }))

/** A store in which ten writes happen during each list. */
function busyStore(inner: MemoryStore): { store: Store; writes: () => number } {
  let writes = 0
  const list: Store['list'] = async (options) => {
    const page = await inner.list(options)
    for (let i = 0; i < 10; i++) await inner.put(`/registry/things/w${writes++}`, bytes(`w${writes}`), 0)
    await new Promise((resolve) => setImmediate(resolve))
    return page
  }
  const store = new Proxy(inner, {
    get: (target, name) => {
      if (name === 'list') return list
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: store as Store, writes: () => writes }
}

test('StoreFeed.cache() contains the writes that happen while it fills, and is shared by its callers', async () => {
  const inner = new MemoryStore()
  for (const name of ['a', 'b']) await inner.put(`/registry/things/${name}`, bytes(name), 0)
  const { store, writes } = busyStore(inner)
  const feed = new StoreFeed(store, new VirtualClock(), nullLogger)
  await feed.start()
  const [cache, same] = await Promise.all([feed.cache('/registry/things/'), feed.cache('/registry/things/')])
  expect(same).toBe(cache)
  expect(writes()).toBe(10)
  await feed.reached(await inner.revision())
  expect(cache.size).toBe(12)
  expect(cache.list('/registry/things/').map(({ key }) => key)).toEqual(
    (await inner.list({ prefix: '/registry/things/' })).entries.map(({ key }) => key),
  )
  await feed[Symbol.asyncDispose]()
  await inner[Symbol.asyncDispose]()
})

test('StoreFeed.forget() drops a cache; the next call of cache() fills a new one', async () => {
  const store = new MemoryStore()
  await store.put('/registry/things/a', bytes('a'), 0)
  const feed = new StoreFeed(store, new VirtualClock(), nullLogger)
  await feed.start()
  const before = await feed.cache('/registry/things/')
  feed.forget('/registry/things/')
  await store.put('/registry/things/b', bytes('b'), 0)
  await feed.reached(await store.revision())
  const after = await feed.cache('/registry/things/')
  expect([before.size, after.size]).toEqual([1, 2])
  await feed[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})
