import { nullLogger, VirtualClock } from '@kubewright/base'
import { CompactedError, MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { HistoryLimit } from './history-limit.ts'

const minute = 60_000

const changed = () => Promise.resolve()

async function write(store: MemoryStore, count: number): Promise<number> {
  let revision = 0
  for (let i = 0; i < count; i++) {
    const { entry } = await store.get('/registry/x')
    revision = (await store.put('/registry/x', new Uint8Array(1), entry?.modRevision ?? 0)).revision
  }
  return revision
}

describe('HistoryLimit', () => {
  test('keeps revisions younger than the age and compacts older ones', async () => {
    const clock = new VirtualClock()
    const store = new MemoryStore()
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
    const old = await write(store, 3)
    await clock.advance(2 * minute)
    const young = await write(store, 3)
    await clock.advance(2 * minute)
    expect((await store.get('/registry/x', { revision: old - 1 })).entry).toBeDefined()
    await clock.advance(1.5 * minute)
    await expect(store.get('/registry/x', { revision: old - 1 })).rejects.toThrow(CompactedError)
    expect((await store.get('/registry/x', { revision: young - 1 })).entry).toBeDefined()
  })

  test('limits the number of revisions whatever their age', async () => {
    const clock = new VirtualClock()
    const store = new MemoryStore()
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed }, { revisions: 100 })
    const newest = await write(store, 300)
    await clock.advance(minute)
    await expect(store.get('/registry/x', { revision: newest - 51 })).rejects.toThrow(CompactedError)
    expect((await store.get('/registry/x', { revision: newest - 50 })).entry).toBeDefined()
  })

  test('checks five times per age when the number of revisions has no limit', async () => {
    const clock = new VirtualClock()
    const store = new MemoryStore()
    const limits = { revisions: Number.POSITIVE_INFINITY }
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed }, limits)
    expect(clock.pending.map(({ delay }) => delay)).toEqual([minute])
    const old = await write(store, 3)
    await clock.advance(5 * minute)
    expect((await store.get('/registry/x', { revision: old - 1 })).entry).toBeDefined()
    await clock.advance(minute)
    await expect(store.get('/registry/x', { revision: old - 1 })).rejects.toThrow(CompactedError)
  })

  test('compacts a persistent store by age when its servers restart more often', async () => {
    const clock = new VirtualClock()
    const store = Object.assign(new MemoryStore(), { persistent: true })
    const old = await write(store, 3)
    for (let restart = 0; restart < 12; restart++) {
      await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
      await clock.advance(0.5 * minute)
      await write(store, 1)
    }
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
    await clock.advance(0.5 * minute)
    await expect(store.get('/registry/x', { revision: old - 1 })).rejects.toThrow(CompactedError)
    const { entry } = await store.get('/registry/x')
    expect((await store.get('/registry/x', { revision: entry!.modRevision - 1 })).entry).toBeDefined()
  })

  test('writes nothing to a persistent store without other writes', async () => {
    const clock = new VirtualClock()
    const store = Object.assign(new MemoryStore(), { persistent: true })
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
    await write(store, 1)
    await clock.advance(minute)
    const revision = await store.revision()
    await clock.advance(20 * minute)
    expect(await store.revision()).toBe(revision)
  })

  test('ignores times that cannot be read or are in the future', async () => {
    const clock = new VirtualClock()
    const store = Object.assign(new MemoryStore(), { persistent: true })
    for (const times of [
      'no times',
      JSON.stringify([
        [clock.now() + 60 * minute, 2],
        ['a', 3],
      ]),
    ]) {
      const { entry } = await store.get('/kubewright/revision-times')
      await store.put('/kubewright/revision-times', Buffer.from(times), entry?.modRevision ?? 0)
      await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
      const old = await write(store, 3)
      await clock.advance(4 * minute)
      expect((await store.get('/registry/x', { revision: old - 1 })).entry).toBeDefined()
      await clock.advance(2 * minute)
      await expect(store.get('/registry/x', { revision: old - 1 })).rejects.toThrow(CompactedError)
    }
  })

  test('sets no timer while the store does not change and no history is left', async () => {
    const clock = new VirtualClock()
    const store = new MemoryStore()
    let change = (): void => undefined
    const changed = () => new Promise<void>((resolve) => (change = resolve))
    await using _limit = new HistoryLimit({ store, clock, log: nullLogger, changed })
    await write(store, 3)
    await clock.advance(6 * minute)
    expect(clock.pending).toEqual([])
    const old = await write(store, 3)
    change()
    await clock.advance(6 * minute)
    await expect(store.get('/registry/x', { revision: old - 1 })).rejects.toThrow(CompactedError)
    // Ends the wait, so that the disposal does not wait for it.
    change()
  })
})
