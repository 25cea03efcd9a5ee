import { connect, createServer, type Server, type Socket } from 'node:net'
import { seededRandom } from '@kubewright/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storageContract } from './contract.ts'
import { MemoryStore } from './memory-store.ts'
import { openReplicaStore, type ReplicaStore, type ReplicaStoreOptions } from './replica-store.ts'
import { RevisionBoard } from './revision-board.ts'
import { serveReplica } from './serve-replica.ts'
import type { Store } from './store.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value)

let server: Server
beforeAll(async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => server.close())

/** The two ends of a connection. */
async function socketPair(): Promise<[near: Socket, far: Socket]> {
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const near = connect((server.address() as { port: number }).port, '127.0.0.1')
  return [near, await accepted]
}

/** Opens a replica. The returned function breaks its connection. */
async function replicaOf(
  store: MemoryStore,
  options?: ReplicaStoreOptions,
): Promise<{ replica: ReplicaStore; cut: () => void; ended: Promise<void> }> {
  const [near, far] = await socketPair()
  const ended = serveReplica(store, far)
  return { replica: await openReplicaStore(near, options), cut: () => far.destroy(), ended }
}

storageContract('ReplicaStore', test, async () => (await replicaOf(new MemoryStore())).replica)

const contents = async (store: Store): Promise<unknown[]> =>
  (await store.list({ prefix: '' })).entries.map(({ value, ...entry }) => ({ ...entry, value: text(value) }))

test('openReplicaStore() transfers the contents and the history since the last compaction', async () => {
  await using store = new MemoryStore()
  for (let i = 0; i < 2000; i++) await store.put(`/${i % 1500}`, bytes(`v${i}`), i < 1500 ? 0 : i - 1500 + 2)
  await store.compact(1000)
  const { replica } = await replicaOf(store)
  expect(replica.oldestRevision).toBe(1000)
  expect(await replica.revision()).toBe(2001)
  expect(await contents(replica)).toEqual(await contents(store))
  const old = { prefix: '/', revision: 1400 }
  expect((await replica.list(old)).entries).toHaveLength((await store.list(old)).entries.length)
  await replica[Symbol.asyncDispose]()
})

test.each([
  { by: 'messages', follow: () => undefined },
  { by: 'a board', follow: (store: MemoryStore) => RevisionBoard.follow(store) },
])('ReplicaStore.sync() by $by makes writes of the source and of other replicas visible', async ({ follow }) => {
  await using store = new MemoryStore()
  using board = follow(store)
  const one = await replicaOf(store, { board })
  const two = await replicaOf(store, { board })
  const random = seededRandom(7)
  for (let i = 0; i < 200; i++) {
    const writer = [store, one.replica, two.replica][random.int(3)]!
    const key = `/${random.int(20)}`
    const { entry } = await store.get(key)
    const { revision } =
      entry && random.int(3) === 0
        ? await writer.delete(key, entry.modRevision)
        : await writer.put(key, bytes(`v${i}`), entry?.modRevision ?? 0)
    for (const { replica } of [one, two]) {
      expect(await replica.sync()).toBeGreaterThanOrEqual(revision)
      expect((await replica.get(key)).entry?.modRevision).toBe((await store.get(key)).entry?.modRevision)
    }
  }
  for (const { replica } of [one, two]) {
    expect(await contents(replica)).toEqual(await contents(store))
    await replica[Symbol.asyncDispose]()
  }
})

test('ReplicaStore rejects a write whose response was lost as uncertain, and ends watches', async () => {
  await using store = new MemoryStore()
  const { replica, cut } = await replicaOf(store)
  const watching = replica.watch({ prefix: '/' })[Symbol.asyncIterator]().next()
  const writing = replica.put('/a', bytes('1'), 0)
  cut()
  await expect(writing).rejects.toMatchObject({ code: 'KW_STORAGE_UNCERTAIN' })
  await expect(watching).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
  await expect(replica.get('/a')).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
})

test('ReplicaStore.sync() waits for changes that are on the board only, and rejects when the channel ends', async () => {
  await using store = new MemoryStore()
  using board = RevisionBoard.follow(store)
  const { replica, cut } = await replicaOf(store, { board })
  // Both start in the turn that publishes: the change is on its way.
  const writing = store.put('/a', bytes('1'), 0)
  expect(board?.read()).toBe(2)
  expect(await replica.revision()).toBe(1)
  expect(await replica.sync()).toBe(2)
  expect(text((await replica.get('/a')).entry?.value)).toBe('1')
  await writing
  cut()
  await store.put('/a', bytes('2'), 2)
  await expect(replica.sync()).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
})

test('ReplicaStore throws the errors of the source', async () => {
  await using store = new MemoryStore()
  const { replica } = await replicaOf(store)
  await store[Symbol.asyncDispose]()
  await expect(replica.put('/a', bytes('1'), 0)).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
})

test('serveReplica() ends when its replica has gone', async () => {
  await using store = new MemoryStore()
  const { replica, ended } = await replicaOf(store)
  await replica[Symbol.asyncDispose]()
  await ended
  await store.put('/a', bytes('1'), 0)
})

test('openReplicaStore() rejects when the channel ends before the transfer', async () => {
  const [near, far] = await socketPair()
  const opening = openReplicaStore(near)
  far.destroy()
  await expect(opening).rejects.toMatchObject({ code: 'KW_STORAGE_UNAVAILABLE' })
})

test('serveReplica() disconnects a replica that stopped reading when a compaction overtakes it', async () => {
  await using store = new MemoryStore()
  const [near, far] = await socketPair()
  const ended = serveReplica(store, far)
  const replica = await openReplicaStore(near)
  near.pause()
  // Far more than the buffers of a socket.
  const value = new Uint8Array(1024 * 1024)
  let revision = 0
  for (let i = 0; i < 64; i++) {
    revision = (await store.put('/a', value, revision)).revision
    await new Promise((resolve) => setImmediate(resolve))
  }
  await store.compact(revision)
  await store.put('/a', value, revision)
  near.resume()
  await ended
  await expect.poll(() => replica.get('/a').catch((error: { code?: string }) => error.code)).toBe('KW_STORAGE_CLOSED')
})
