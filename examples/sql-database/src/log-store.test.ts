import { expect, test } from 'vitest'
import type { Peer } from './database.ts'
import { LogStore, type StoredState } from './log-store.ts'

/** Instances that can reach each other. */
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

test('LogStore confirms a row when all synchronous replicas have it', async () => {
  const { at } = await pair()
  await at('a').write('two')
  expect(texts(at('b'))).toEqual(['one', 'two'])
  expect(at('a').report()).toMatchObject({ role: 'primary', committed: 2, synchronous: [{ name: 'b', position: 2 }] })
})

test('LogStore confirms nothing after it was replaced as primary, and drops unconfirmed rows', async () => {
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

test('LogStore rejects outdated epochs and revisions in any order', async () => {
  const { at } = await pair()
  await expect(at('a').promote({ id: 'a', epoch: 1, revision: 1, synchronous: [] })).rejects.toThrow(
    'revision 1 is outdated',
  )
  await at('b').promote({ id: 'b', epoch: 3, revision: 5, synchronous: [] })
  await expect(at('b').promote({ id: 'b', epoch: 2, revision: 9, synchronous: [] })).rejects.toThrow(
    'epoch 2 is outdated',
  )
  expect(() => at('b').restore({ id: 'b', epoch: 2, rows: [] })).toThrow('epoch 2 is outdated')
  expect(() => at('b').snapshot(1)).toThrow('not the primary of epoch 1')
})

test('LogStore rejects promotions and restorations for an earlier instance at its address', async () => {
  const { at } = stores('a')
  expect(() => at('a').restore({ id: 'x', epoch: 1, rows: [] })).toThrow('no longer exists')
  await expect(at('a').promote({ id: 'x', epoch: 1, revision: 1, synchronous: [] })).rejects.toThrow('no longer exists')
})

test('LogStore rejects a late snapshot, and rows before it has a snapshot', async () => {
  const { at } = await pair()
  await at('a').write('two')
  expect(() => at('b').restore({ id: 'b', epoch: 1, rows: [] })).toThrow('the instance is already in epoch 1')
  const { at: other } = stores('c')
  expect(() => other('c').append({ epoch: 1, position: 0, previousEpoch: 0, rows: [] })).toThrow(
    'restore a snapshot first',
  )
})

test('LogStore restores its role, its synchronous replicas and the committed position after a restart', async () => {
  const { at, restart } = await pair()
  await at('a').write('two')
  restart('a')
  expect(at('a').report()).toMatchObject({ role: 'primary', epoch: 1, revision: 2, committed: 2 })
  await at('a').write('three')
  expect(texts(at('b'))).toEqual(['one', 'two', 'three'])
})

test('LogStore requires of joining replicas all rows that an earlier primary may have confirmed', async () => {
  const { at } = await pair()
  await at('b').promote({ id: 'b', epoch: 2, revision: 3, synchronous: peers('nobody') })
  expect(at('b').report()).toMatchObject({ committed: 1, synchronous: [{ name: 'nobody', position: 0 }] })
  await expect(at('b').write('two')).rejects.toThrow('not confirmed')
})
