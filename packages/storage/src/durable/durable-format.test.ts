import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { MemoryDisk } from '../testdata/memory-disk.ts'
import { openDurableStore } from './durable-store.ts'
import { markerName } from './marker.ts'
import { decodeHeader, encodeHeader, storeFormat } from './wal-format.ts'

const recorded = join(import.meta.dirname, '../testdata', 'format-1')

/** A folder that the first version of the format wrote. */
async function recordedDisk(name: string): Promise<MemoryDisk> {
  const folder = join(recorded, name)
  const names = await readdir(folder)
  return new MemoryDisk(
    await Promise.all(names.map(async (file) => [file, await readFile(join(folder, file))] as const)),
  )
}

async function stateOf(store: Store): Promise<unknown> {
  const { entries, revision } = await store.list({ prefix: '' })
  const text = (value: Uint8Array): string => Buffer.from(value).toString()
  return { revision, entries: entries.map((e) => [e.key, text(e.value), e.createRevision, e.modRevision]) }
}

const formats = (disk: MemoryDisk): unknown[] =>
  [...disk.files].map(([name, data]) => {
    const header = decodeHeader(data, name === markerName ? 'marker' : name.startsWith('log') ? 'log' : 'snapshot')
    return header && 'format' in header ? header.format : undefined
  })

describe.each(['empty', 'log', 'snapshot'])('openDurableStore() with a folder of format 1: %s', (name) => {
  test('converts it to the present format and keeps entries and revisions', async () => {
    const expected: unknown = JSON.parse(await readFile(join(recorded, `${name}.json`), 'utf8'))
    const disk = await recordedDisk(name)
    {
      await using store = await openDurableStore('folder', { disk })
      expect(await stateOf(store)).toEqual(expected)
      expect(store.openNotes).toEqual([`converted from format 1 to ${storeFormat}`])
      expect(new Set(formats(disk))).toEqual(new Set([storeFormat]))
      await store.put('/new', Buffer.from('x'), 0)
    }
    await using store = await openDurableStore('folder', { disk })
    expect(store.openNotes).toEqual([])
    const { entries } = (await stateOf(store)) as { entries: unknown[] }
    expect(entries).toHaveLength((expected as { entries: unknown[] }).entries.length + 1)
  })

  test('loses nothing when the conversion is interrupted at any point', async () => {
    const expected: unknown = JSON.parse(await readFile(join(recorded, `${name}.json`), 'utf8'))
    for (let crashAfter = 0; ; crashAfter++) {
      const disk = await recordedDisk(name)
      disk.crashAfter = crashAfter
      const opened = await openDurableStore('folder', { disk }).catch(() => undefined)
      await using store = await openDurableStore('folder', { disk: new MemoryDisk(disk.files) })
      expect(await stateOf(store)).toEqual(expected)
      if (!opened) continue
      expect(crashAfter).toBeGreaterThan(5)
      break
    }
  })
})

describe('openDurableStore()', () => {
  test('refuses a folder of a newer format and leaves it unchanged', async () => {
    for (const kind of ['log', 'snapshot'] as const) {
      const disk = await recordedDisk('snapshot')
      const name = [...disk.files.keys()].find((one) => one.startsWith(kind))!
      const newer = Buffer.concat([encodeHeader(kind, Number(name.split('-')[1]), 3), Buffer.from('unknown')])
      disk.files.set(name, newer)
      const before = new Map(disk.files)
      await expect(openDurableStore('folder', { disk })).rejects.toMatchObject({
        code: 'KW_STORAGE_FORMAT',
        message: `Cannot open folder as ${name} has format 3, and this version of kubewright reads formats up to 2: use the newer version that wrote it`,
      })
      expect(disk.files).toEqual(before)
    }
  })

  test('loses nothing when the process ends at any point of a rotation', async () => {
    for (let crashAfter = 0; ; crashAfter++) {
      const disk = new MemoryDisk()
      disk.crashAfter = crashAfter
      const acknowledged: string[] = []
      let failed = false
      try {
        await using store = await openDurableStore('folder', { disk, snapshotBytes: 300 })
        for (let i = 0; i < 12; i++) {
          await store.put(`/${i}`, Buffer.from('x'.repeat(20)), 0)
          acknowledged.push(`/${i}`)
        }
      } catch {
        failed = true
      }
      await using store = await openDurableStore('folder', { disk: new MemoryDisk(disk.files) })
      const { entries } = await store.list({ prefix: '' })
      expect(entries.map((e) => e.key)).toEqual(expect.arrayContaining(acknowledged))
      if (failed) continue
      expect([...disk.files.keys()].some((name) => name.startsWith('snapshot'))).toBe(true)
      break
    }
  })
})
