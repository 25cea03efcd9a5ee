import { nullLogger, VirtualClock } from '@kubewright/base'
import { MemoryStore, type Store } from '@kubewright/storage'
import { expect, test } from 'vitest'
import type { CacheEvent } from './resource-cache.ts'
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

test('StoreFeed limits the windows of its caches by bytes, and the largest window loses its events', async () => {
  const store = new MemoryStore()
  const limit = 100_000
  const feed = new StoreFeed(store, new VirtualClock(), nullLogger, { bytes: limit })
  await feed.start()
  const big = await feed.cache('/registry/big/')
  const small = await feed.cache('/registry/small/')
  const value = (size: number): Uint8Array =>
    Buffer.from(JSON.stringify({ kind: 'X', apiVersion: 'v1', metadata: { name: 'x' }, data: 'd'.repeat(size) }))
  const write = async (key: string, size: number): Promise<number> => {
    const { entry } = await store.get(key)
    const { revision } = await store.put(key, value(size), entry?.modRevision ?? 0)
    await feed.reached(revision)
    return revision
  }
  const first = await write('/registry/small/x', 100)
  for (let i = 0; i < 5; i++) await write('/registry/small/x', 100)
  let cursor = big.end
  for (let i = 0; i < 100; i++) {
    await write('/registry/big/x', 10_000)
    // A watcher that keeps up loses nothing.
    expect(big.eventAt(cursor++)).toMatchObject({ type: i === 0 ? 'ADDED' : 'MODIFIED' })
    expect(feed.windows.bytes).toBe(big.windowBytes + small.windowBytes)
    // The limit holds before the last batch, which replaced one version.
    expect(feed.windows.bytes).toBeLessThan(limit + 11_000)
  }
  expect(small.cursorAfter(first)).toBeDefined()
  expect(big.cursorAfter(first)).toBeUndefined()
  expect(big.cursorAfter(big.completeAfter)).toBeDefined()
  feed.forget('/registry/big/')
  expect(feed.windows.bytes).toBe(small.windowBytes)
  await feed[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

test('StoreFeed.cache() starts again when the changes during its list exceed the limit', async () => {
  const inner = new MemoryStore()
  let lists = 0
  const list: Store['list'] = async (options) => {
    const page = await inner.list(options)
    if (lists++ < 2) {
      for (let i = 0; i < 20; i++) await inner.put(`/registry/things/${lists}-${i}`, bytes('n'.repeat(1000)), 0)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return page
  }
  const store = new Proxy(inner, {
    get: (target, name) => {
      if (name === 'list') return list
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  }) as Store
  const feed = new StoreFeed(store, new VirtualClock(), nullLogger, { bytes: 5000 })
  await feed.start()
  expect((await feed.cache('/registry/things/')).size).toBe(40)
  expect(lists).toBe(3)
  await feed[Symbol.asyncDispose]()
  await inner[Symbol.asyncDispose]()
})

test('WindowBudget.enforce() releases the forms of old events, which are created again when a watcher needs them', async () => {
  const store = new MemoryStore()
  const feed = new StoreFeed(store, new VirtualClock(), nullLogger)
  await feed.start()
  const cache = await feed.cache('/registry/things/')
  const write = async (): Promise<void> => {
    const { entry } = await store.get('/registry/things/a')
    await feed.reached((await store.put('/registry/things/a', bytes('a'), entry?.modRevision ?? 0)).revision)
  }
  for (let i = 0; i < 2; i++) await write()
  const event = cache.eventAt(1) as CacheEvent
  const line = event.line('MODIFIED')
  const parsed = event.previous?.object
  expect(event.line('MODIFIED')).toBe(line)
  for (let i = 0; i < 1100; i++) await write()
  expect(event.line('MODIFIED')).not.toBe(line)
  expect(event.line('MODIFIED')).toEqual(line)
  expect(event.previous?.object).not.toBe(parsed)
  expect(event.previous?.object).toEqual(parsed)
  await feed[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})
