import { expect, test } from 'vitest'
import type { Peer } from './database.ts'
import { LogStore, type StoredState } from './log-store.ts'

/** Instances that reach each other. */
function stores(...names: readonly string[]) {
  const all = new Map<string, LogStore>()
  const disks = new Map<string, StoredState>()
  const boot = (name: string): LogStore => {
    const store = new LogStore({
      freshId: name,
      state: disks.get(name),
      save: (state) => void disks.set(name, state),
      send: async (peer, append) => all.get(peer.name)!.append(append),
    })
    all.set(name, store)
    return store
  }
  for (const name of names) boot(name)
  return { at: (name: string) => all.get(name)!, restart: boot }
}

const peers = (...names: readonly string[]): Peer[] => names.map((name) => ({ name, url: name }))
const texts = (store: LogStore) => store.read().map(({ text }) => text)

async function pair() {
  const { at, restart } = stores('a', 'b')
  await at('a').promote({ id: 'a', epoch: 1, revision: 1, synchronous: [] })
  await at('a').write('one')
  at('b').restore({ ...at('a').snapshot(1), id: 'b' })
  await at('a').promote({ id: 'a', epoch: 1, revision: 2, synchronous: peers('b') })
  return { at, restart }
}

test('LogStore confirms what all have whom it must wait for', async () => {
  const { at } = await pair()
  await at('a').write('two')
  expect(texts(at('b'))).toEqual(['one', 'two'])
  expect(at('a').report()).toMatchObject({ role: 'primary', committed: 2, synchronous: [{ name: 'b', position: 2 }] })
})

test('LogStore confirms nothing once another is primary, and drops what it could not confirm', async () => {
  const { at } = await pair()
  await at('b').promote({ id: 'b', epoch: 2, revision: 3, synchronous: [] })
  await expect(at('a').write('lost')).rejects.toThrow('not confirmed')
  expect(at('a').report().role).toBe('primary')
  await at('b').write('three')
  await at('b').promote({ id: 'b', epoch: 2, revision: 4, synchronous: peers('a') })
  await at('b').write('four')
  expect(texts(at('a'))).toEqual(['one', 'three', 'four'])
  expect(at('a').report()).toMatchObject({ role: 'replica', epoch: 2 })
})

test('LogStore obeys neither an old epoch nor an old revision, in whatever order they come', async () => {
  const { at } = await pair()
  await expect(at('a').promote({ id: 'a', epoch: 1, revision: 1, synchronous: [] })).rejects.toThrow(
    'revision 1 is over',
  )
  await at('b').promote({ id: 'b', epoch: 3, revision: 5, synchronous: [] })
  await expect(at('b').promote({ id: 'b', epoch: 2, revision: 9, synchronous: [] })).rejects.toThrow('epoch 2 is over')
  expect(() => at('b').restore({ id: 'b', epoch: 2, rows: [] })).toThrow('epoch 2 is over')
  expect(() => at('b').snapshot(1)).toThrow('not the primary of epoch 1')
})

test('LogStore neither becomes primary nor is fed in the place of another that was here before', async () => {
  const { at } = stores('a')
  expect(() => at('a').restore({ id: 'x', epoch: 1, rows: [] })).toThrow('no longer here')
  await expect(at('a').promote({ id: 'x', epoch: 1, revision: 1, synchronous: [] })).rejects.toThrow('no longer here')
})

test('LogStore does not take a snapshot that comes too late, nor rows before it has one', async () => {
  const { at } = await pair()
  await at('a').write('two')
  expect(() => at('b').restore({ id: 'b', epoch: 1, rows: [] })).toThrow('it is in epoch 1 already')
  const { at: other } = stores('c')
  expect(() => other('c').append({ epoch: 1, position: 0, previousEpoch: 0, rows: [] })).toThrow('feed it first')
})

test('LogStore knows after a restart what it is, whom it waits for, and what newcomers must have', async () => {
  const { at, restart } = await pair()
  await at('a').write('two')
  restart('a')
  expect(at('a').report()).toMatchObject({ role: 'primary', epoch: 1, revision: 2, committed: 2 })
  await at('a').write('three')
  expect(texts(at('b'))).toEqual(['one', 'two', 'three'])
})

test('LogStore asks newcomers for all that the primary before may have confirmed', async () => {
  const { at } = await pair()
  await at('b').promote({ id: 'b', epoch: 2, revision: 3, synchronous: peers('nobody') })
  expect(at('b').report()).toMatchObject({ committed: 1, synchronous: [{ name: 'nobody', position: 0 }] })
  await expect(at('b').write('two')).rejects.toThrow('not confirmed')
})
