import { describe, expect, test } from 'vitest'
import { MemoryDisk } from '../testdata/memory-disk.ts'
import { type DurableStore, openDurableStore } from './durable-store.ts'
import { markerName } from './marker.ts'
import { readFrames } from './wal-format.ts'

/** The entries of a store as text, to compare states. */
async function stateOf(store: DurableStore): Promise<string> {
  const { entries } = await store.list({ prefix: '' })
  return entries.map((e) => `${e.key}=${Buffer.from(e.value)}@${e.createRevision}/${e.modRevision}`).join('\n')
}

/** Writes, replaces and deletes keys. Returns the files, and the state at each revision. */
async function history(
  writes: number,
  snapshotBytes: number,
): Promise<{ disk: MemoryDisk; states: Map<number, string> }> {
  const disk = new MemoryDisk()
  const states = new Map<number, string>()
  await using store = await openDurableStore('folder', { disk, snapshotBytes })
  states.set(1, '')
  for (let i = 0; i < writes; i++) {
    const key = `/k${i % 5}`
    const { entry } = await store.get(key)
    // A value with a run of zeros as long as a sector makes damage look like a write that was never finished.
    const value = i % 7 === 3 ? Buffer.alloc(1100) : Buffer.from(`value ${i}`)
    if (entry && i % 4 === 3) await store.delete(key, entry.modRevision)
    else await store.put(key, value, entry?.modRevision ?? 0)
    states.set(await store.revision(), await stateOf(store))
  }
  return { disk, states }
}

/** The revision of the last write of a log that ends before each of its frames, and after all of them. */
async function frameRevisions(log: Buffer): Promise<{ position: number; revision: number }[]> {
  const frames: { position: number; revision: number }[] = []
  const source = { size: log.length, read: async (at: number, length: number) => log.subarray(at, at + length) }
  const end = await readFrames(source, 20, (records, position) => {
    frames.push({ position, revision: records[0]!.revision - 1 })
  })
  expect(end).toEqual({ kind: 'complete', length: log.length })
  return [...frames, { position: log.length, revision: frames.at(-1)!.revision + 1 }]
}

interface Damage {
  readonly name: string
  readonly file: Buffer
  /** The first byte that differs. */
  readonly at: number
}

/** Each bit of a few, at each byte of each file; and each shorter length. */
function* damages(files: ReadonlyMap<string, Buffer>): Generator<Damage> {
  for (const [name, whole] of files) {
    for (let at = 0; at < whole.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const file = Buffer.from(whole)
        file[at]! ^= mask
        yield { name, file, at }
      }
      yield { name, file: whole.subarray(0, at), at }
    }
  }
}

describe.each([
  ['a log', 20, 1_000_000],
  ['a snapshot and a log', 33, 1500],
])('openDurableStore() with %s of which any byte changed or any end is missing', (_, writes, snapshotBytes) => {
  test('refuses, or opens exactly the complete writes before the damage and reports it', async () => {
    const { disk, states } = await history(writes, snapshotBytes)
    // As after a crash: the marker says nothing about the last writes.
    disk.files.delete(markerName)
    const newest = Math.max(...states.keys())
    const logName = [...disk.files.keys()]
      .filter((name) => name.startsWith('log'))
      .sort()
      .at(-1)!
    const frames = await frameRevisions(disk.files.get(logName)!)
    let opened = 0
    let refused = 0
    for (const { name, file, at } of damages(disk.files)) {
      const damaged = new MemoryDisk(disk.files)
      damaged.files.set(name, file)
      let store: DurableStore
      try {
        store = await openDurableStore('folder', { disk: damaged })
      } catch (error) {
        expect(error).toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
        refused++
        continue
      }
      opened++
      const revision = await store.revision()
      // Only the end of the newest log can be dropped.
      expect(name).toBe(logName)
      expect(revision).toBe(frames.findLast(({ position }) => position <= at)!.revision)
      expect(await stateOf(store)).toBe(states.get(revision))
      // A log that ends between two writes is complete: the loss of later writes cannot be seen.
      const isBoundary = frames.some(({ position }) => position === file.length)
      if (!isBoundary || file.length === frames.at(-1)!.position) expect(store.openNotes).toHaveLength(1)
      expect(revision).toBeLessThan(newest)
      await store[Symbol.asyncDispose]()
    }
    expect(opened).toBeGreaterThan(0)
    expect(refused).toBeGreaterThan(0)
  }, 120_000)

  test('refuses after a clean end, also when the log ends between two writes', async () => {
    const { disk } = await history(writes, snapshotBytes)
    for (const { name, file } of damages(disk.files)) {
      const damaged = new MemoryDisk(disk.files)
      damaged.files.set(name, file)
      await expect(openDurableStore('folder', { disk: damaged })).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
    }
  }, 120_000)

  test('refuses when any file but the marker is missing', async () => {
    const { disk } = await history(writes, snapshotBytes)
    for (const name of disk.files.keys()) {
      if (name === markerName) continue
      const damaged = new MemoryDisk(disk.files)
      damaged.files.delete(name)
      await expect(openDurableStore('folder', { disk: damaged })).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
    }
  })
})

describe('openDurableStore() after a crash', () => {
  const newest = 21
  const name = 'log-0000000000000001'

  /** A log that was not closed, and where its last frame is. The frame has three sectors and no zeros. */
  async function crashed(): Promise<{ log: Buffer; start: number; end: number; states: Map<number, string> }> {
    const { disk, states } = await history(19, 1_000_000)
    await using store = await openDurableStore('folder', { disk })
    await store.put('/last', Buffer.alloc(1100, 'x'), 0)
    states.set(newest, await stateOf(store))
    const log = Buffer.from(disk.files.get(name)!)
    const start = log.lastIndexOf('/last') - 35
    return { log, start, end: start + 35 + '/last'.length + 1100, states }
  }

  test('finds all writes in front of the zeros at the end of the log', async () => {
    const { log, end, states } = await crashed()
    for (const length of [end, end + 1, end + 11, end + 12, end + 13, end + 600, log.length]) {
      await using store = await openDurableStore('folder', { disk: new MemoryDisk([[name, log.subarray(0, length)]]) })
      expect(await stateOf(store)).toBe(states.get(newest))
      expect(store.openNotes).toEqual([])
      // The next frame follows the last one directly.
      expect((await store.put('/next', Buffer.from('1'), 0)).revision).toBe(newest + 1)
    }
  })

  test('drops an incomplete last write, whatever part of it was written', async () => {
    const { log, start, end, states } = await crashed()
    const sectors = [start, ...[1, 2, 3].map((i) => Math.floor(start / 512 + i) * 512).filter((at) => at < end), end]
    const torn: Buffer[] = []
    // Any of its sectors, but not all.
    for (let written = 0; written < 2 ** (sectors.length - 1) - 1; written++) {
      const copy = Buffer.from(log)
      for (let i = 0; i + 1 < sectors.length; i++) if (!(written & (1 << i))) copy.fill(0, sectors[i], sectors[i + 1])
      torn.push(copy)
    }
    // Any beginning, as of a write that failed.
    for (let at = start; at <= end - 8; at += 7) torn.push(Buffer.from(log).fill(0, at))
    for (const copy of torn) {
      await using store = await openDurableStore('folder', { disk: new MemoryDisk([[name, copy]]) })
      expect(await store.revision()).toBe(newest - 1)
      expect(await stateOf(store)).toBe(states.get(newest - 1))
      const dropped = copy.subarray(start).some((byte) => byte !== 0)
      expect(store.openNotes).toHaveLength(dropped ? 1 : 0)
    }
  })

  test('refuses a last write of which any byte changed', async () => {
    const { log, start, end } = await crashed()
    for (let at = start; at < end; at++) {
      const copy = Buffer.from(log)
      copy[at]! ^= 0x80
      const opened = openDurableStore('folder', { disk: new MemoryDisk([[name, copy]]) })
      await expect(opened).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
    }
  })
})
