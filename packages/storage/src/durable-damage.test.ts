import { describe, expect, test } from 'vitest'
import { type DurableStore, openDurableStore } from './durable-store.ts'
import { readFrames } from './internal/wal-format.ts'
import { MemoryDisk } from './testdata/memory-disk.ts'

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

  test('refuses when any file is missing', async () => {
    const { disk } = await history(writes, snapshotBytes)
    if (disk.files.size < 2) return
    for (const name of disk.files.keys()) {
      const damaged = new MemoryDisk(disk.files)
      damaged.files.delete(name)
      await expect(openDurableStore('folder', { disk: damaged })).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
    }
  })
})
