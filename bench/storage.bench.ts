import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryStore, openDurableStore, type Store, type WatchBatch } from '@kubewright/storage'
import type { Suite } from './harness.ts'

const value = new Uint8Array(1200).fill(0x61)
const keyCount = 10_000
const keys = Array.from({ length: keyCount }, (_, i) => `/registry/pods/ns-${i % 100}/pod-${i}`)

async function filled(store: Store): Promise<Store> {
  for (const key of keys) await store.put(key, value, 0)
  return store
}

/** Returns a function that replaces one key after the other and compacts from time to time, like a server. */
function replacer(store: Store): () => Promise<void> {
  const revisions = new Map<string, number>()
  let next = 0
  return async () => {
    const key = keys[next++ % keyCount]!
    const expected = revisions.get(key) ?? (await store.get(key)).entry?.modRevision ?? 0
    const { revision } = await store.put(key, value, expected)
    revisions.set(key, revision)
    if (revision % 5000 === 0) await store.compact(revision - 1000)
  }
}

/** Returns a function that makes a change and resolves when all watchers have received it. */
async function watched(prefixes: readonly string[]): Promise<() => Promise<void>> {
  const store = await filled(new MemoryStore())
  const after = await store.revision()
  const watches = prefixes.map((prefix) => store.watch({ prefix, after })[Symbol.asyncIterator]())
  const change = replacer(store)
  let pending: Promise<IteratorResult<WatchBatch>>[] = watches.map((watch) => watch.next())
  return async () => {
    await change()
    await Promise.all(pending)
    pending = watches.map((watch) => watch.next())
  }
}

export const suite: Suite = {
  title: 'Storage',
  about:
    'Stores of 10,000 keys with values of 1,200 bytes. The durable store is in the temporary directory of the machine. A write is complete when it is on the medium; its duration depends on the disk.',
  rows: async () => {
    const memory = await filled(new MemoryStore())
    const folder = await mkdtemp(join(tmpdir(), 'kubewright-bench-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    const durable = await openDurableStore(folder)
    await Promise.all(keys.map((key) => durable.put(key, value, 0)))
    const durablePut = replacer(durable)
    let at = 0
    return [
      { title: 'memory: get one key', async: true, ours: () => memory.get(keys[at++ % keyCount]!) },
      { title: 'memory: replace one key', async: true, ours: replacer(await filled(new MemoryStore())) },
      {
        title: 'memory: list 100 of 10,000 keys by prefix',
        async: true,
        ours: () => memory.list({ prefix: `/registry/pods/ns-${at++ % 100}/` }),
      },
      {
        title: 'memory: list all 10,000 keys, per key',
        async: true,
        operations: keyCount,
        ours: () => memory.list({ prefix: '/' }),
      },
      {
        title: 'memory: replace one key that 1,000 watchers of one prefix see, per watcher',
        async: true,
        operations: 1000,
        ours: await watched(Array.from({ length: 1000 }, () => '/registry/pods/')),
      },
      {
        title: 'memory: replace one key among 1,000 watchers of 100 prefixes, per watcher',
        async: true,
        operations: 1000,
        ours: await watched(Array.from({ length: 1000 }, (_, i) => `/registry/pods/ns-${i % 100}/`)),
      },
      { title: 'durable: replace one key, one writer', async: true, ours: durablePut },
      {
        title: 'durable: replace one key, 64 writers at once',
        async: true,
        operations: 64,
        ours: () => Promise.all(Array.from({ length: 64 }, durablePut)),
      },
    ]
  },
}
