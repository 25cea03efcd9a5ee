import { drainMicrotasks } from '@kubewright/base'
import { expect, test } from 'vitest'
import { storageContract } from '../contract/contract.ts'
import { CompactedError, FutureRevisionError } from '../store/storage-error.ts'
import { MemoryStore } from './memory-store.ts'

storageContract('MemoryStore', test, async () => new MemoryStore())

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('MemoryStore.watch() with a shared signal causes no leak warning and leaves no listener behind', async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  const store = new MemoryStore()
  const { signal } = new AbortController()
  const watches = Array.from({ length: 50 }, () => store.watch({ prefix: '/', signal })[Symbol.asyncIterator]())
  const firsts = watches.map((watch) => watch.next())
  await store.put('/a', bytes('1'), 0)
  const batches = (await Promise.all(firsts)).map((result) => result.value)
  for (const watch of watches) await watch.return?.()
  await drainMicrotasks()
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
  expect(new Set(batches).size).toBe(1)
})

test('MemoryStore.watch() fails when a compaction overtakes it, also while it waits', async () => {
  const store = new MemoryStore()
  const watch = store.watch({ prefix: '/', after: 1 })[Symbol.asyncIterator]()
  await store.put('/a', bytes('1'), 0)
  await watch.next()
  for (let i = 0; i < 3; i++) await store.put(`/${i}`, bytes('1'), 0)
  await store.compact(4)
  await expect(watch.next()).rejects.toBeInstanceOf(CompactedError)
  await expect(store.watch({ prefix: '/', after: 99 })[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(
    FutureRevisionError,
  )
})

test('MemoryStore.fork() returns an independent store with the same history', async () => {
  const store = new MemoryStore()
  await store.put('/a', bytes('1'), 0)
  await store.put('/a', bytes('2'), 2)
  const copy = store.fork()
  await store.put('/b', bytes('3'), 0)
  await copy.put('/c', bytes('4'), 0)
  const keys = async (from: MemoryStore): Promise<string[]> =>
    (await from.list({ prefix: '' })).entries.map((entry) => entry.key)
  expect(await keys(store)).toEqual(['/a', '/b'])
  expect(await keys(copy)).toEqual(['/a', '/c'])
  expect((await copy.get('/a', { revision: 2 })).entry?.modRevision).toBe(2)
})

test('MemoryStore rejects calls after it was closed', async () => {
  const store = new MemoryStore()
  const waiting = store.watch({ prefix: '/' })[Symbol.asyncIterator]().next()
  await store[Symbol.asyncDispose]()
  await expect(waiting).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
  await expect(store.put('/a', bytes('1'), 0)).rejects.toThrow('Cannot use the store as it was closed')
})

test('MemoryStore limits its history by bytes, and watches that resume in the past fail as after a compaction', async () => {
  const limit = 100_000
  await using store = new MemoryStore({ historyBytes: limit })
  const value = new Uint8Array(10_000)
  const seen: number[] = []
  const watching = (async () => {
    for await (const { changes } of store.watch({ prefix: '/', after: 1 })) {
      seen.push(...changes.map(({ revision }) => revision))
      if (seen.length >= 200) return
    }
  })()
  let revision = 0
  for (let i = 0; i < 200; i++) {
    revision = (await store.put('/a', value.slice(), revision)).revision
    expect(store.historyBytes).toBeLessThanOrEqual(limit)
  }
  await watching
  expect(seen).toEqual(Array.from({ length: 200 }, (_, i) => i + 2))
  expect((await store.get('/a', { revision: revision - 4 })).entry?.modRevision).toBe(revision - 4)
  await expect(store.get('/a', { revision: revision - 20 })).rejects.toBeInstanceOf(CompactedError)
  const late = store.watch({ prefix: '/', after: revision - 20 })[Symbol.asyncIterator]()
  await expect(late.next()).rejects.toBeInstanceOf(CompactedError)
  await store.compact(revision)
  expect(store.historyBytes).toBe(0)
})

test('MemoryStore counts neither live values nor new keys as history', async () => {
  await using store = new MemoryStore({ historyBytes: 1000 })
  for (let i = 0; i < 20; i++) await store.put(`/${i}`, new Uint8Array(500), 0)
  expect(store.historyBytes).toBe(0)
  expect((await store.list({ prefix: '/', revision: 2 })).entries).toHaveLength(1)
  await store.delete('/0', 2)
  expect(store.fork().historyBytes).toBe(500)
})
