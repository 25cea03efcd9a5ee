import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Store } from '../store/store.ts'
import { backUpStore, readBackup, restoreStore } from './backup.ts'
import { openDurableStore } from './durable-store.ts'
import { encodeHeader } from './wal-format.ts'

const folders: string[] = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-backup-'))
  folders.push(folder)
  return folder
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

async function fill(store: Store, from: number, count: number): Promise<void> {
  for (let i = from; i < from + count; i++) await store.put(`/${i}`, Buffer.from(`value ${i}`), 0)
}

/** A backup of a store with three entries, at revision 4. */
async function backupOfThree(): Promise<{ file: string; folder: string }> {
  const folder = await newFolder()
  await using store = await openDurableStore(join(folder, 'store'))
  await fill(store, 0, 3)
  const file = join(folder, 'backup')
  await backUpStore(join(folder, 'store'), file, [{ path: 'pki/ca.key', content: Buffer.from('secret') }])
  return { file, folder }
}

describe('backUpStore()', () => {
  test('replaces a link that has the name of its draft, and does not write through it', async () => {
    const { folder } = await backupOfThree()
    const other = join(folder, 'precious')
    await writeFile(other, 'precious')
    await symlink(other, join(folder, `new.${process.pid}.tmp`))
    await backUpStore(join(folder, 'store'), join(folder, 'new'))
    expect(await readFile(other, 'utf8')).toBe('precious')
    expect((await readBackup(join(folder, 'new'))).revision).toBe(4)
    expect((await lstat(join(folder, 'new'))).isFile()).toBe(true)
  })

  test('writes the state at one revision while writes and snapshots continue', async () => {
    const folder = await newFolder()
    await using store = await openDurableStore(join(folder, 'store'), { snapshotBytes: 600 })
    let isDone = false
    let written = 0
    const writer = async (): Promise<void> => {
      while (!isDone) {
        await fill(store, written, 1)
        written++
      }
    }
    const writing = writer()
    for (let round = 0; round < 15; round++) {
      const acknowledged = await store.revision()
      const file = join(folder, `backup-${round}`)
      const summary = await backUpStore(join(folder, 'store'), file)
      expect(summary.revision).toBeGreaterThanOrEqual(acknowledged)
      const { entries, revision } = await readBackup(file)
      expect(revision).toBe(summary.revision)
      // Each revision after the first wrote one key.
      expect(new Set(entries.map((e) => e.key))).toEqual(
        new Set(Array.from({ length: revision - 1 }, (_, i) => `/${i}`)),
      )
    }
    isDone = true
    await writing
  })

  test('writes a file for its owner only, and leaves no draft', async () => {
    const { file, folder } = await backupOfThree()
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['backup', 'store'])
    const { attached } = await readBackup(file)
    expect(attached.map(({ path, content }) => [path, Buffer.from(content).toString()])).toEqual([
      ['pki/ca.key', 'secret'],
    ])
  })

  test('rejects a folder without a store and creates no file', async () => {
    const folder = await newFolder()
    for (const missing of [folder, join(folder, 'missing')]) {
      await expect(backUpStore(missing, join(folder, 'backup'))).rejects.toMatchObject({
        code: 'KW_STORAGE_FOLDER',
        message: `Cannot read ${missing} as it contains no store: name the folder of the store`,
      })
    }
    expect(await readdir(folder)).toEqual([])
  })
})

describe('readBackup()', () => {
  test('rejects a backup of which any byte changed or any end is missing', async () => {
    const { file } = await backupOfThree()
    const whole = await readFile(file)
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole)
      changed[at]! ^= 0x04
      for (const damaged of [changed, whole.subarray(0, at)]) {
        await writeFile(file, damaged)
        await expect(readBackup(file)).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
      }
    }
  })

  test('rejects a newer format', async () => {
    const { file } = await backupOfThree()
    await writeFile(file, encodeHeader('backup', 4, 9))
    await expect(readBackup(file)).rejects.toMatchObject({
      code: 'KW_STORAGE_FORMAT',
      message: expect.stringContaining('has format 9, and this version of kubewright reads formats up to 2'),
    })
  })
})

describe('restoreStore()', () => {
  test('restores entries with their revisions, and never issues a revision again that clients may have seen', async () => {
    const { file, folder } = await backupOfThree()
    const target = join(folder, 'new', 'store')
    const { revision } = await restoreStore(target, await readBackup(file))
    expect(revision).toBe(1_000_000_004)
    await using store = await openDurableStore(target)
    expect(await store.revision()).toBe(revision)
    const { entries } = await store.list({ prefix: '' })
    expect(entries.map((e) => [e.key, Buffer.from(e.value).toString(), e.createRevision, e.modRevision])).toEqual([
      ['/0', 'value 0', 2, 2],
      ['/1', 'value 1', 3, 3],
      ['/2', 'value 2', 4, 4],
    ])
    await fill(store, 3, 1)
    expect(await store.revision()).toBe(revision + 1)
  })

  test('rejects a folder that is not empty, and moves its files away on request', async () => {
    const { file, folder } = await backupOfThree()
    const target = join(folder, 'store')
    {
      await using store = await openDurableStore(target)
      await fill(store, 3, 1)
    }
    const before = await readdir(target)
    await expect(restoreStore(target, await readBackup(file))).rejects.toMatchObject({
      code: 'KW_STORAGE_FOLDER',
      message: expect.stringContaining('as it is not empty'),
    })
    expect(await readdir(target)).toEqual(before)
    await restoreStore(target, await readBackup(file), { moveTo: join(folder, 'old') })
    {
      await using store = await openDurableStore(target)
      expect((await store.list({ prefix: '' })).entries).toHaveLength(3)
    }
    await using old = await openDurableStore(join(folder, 'old'))
    expect((await old.list({ prefix: '' })).entries).toHaveLength(4)
  })

  test('rejects a store that a process has open', async () => {
    const { file, folder } = await backupOfThree()
    await using store = await openDurableStore(join(folder, 'store'))
    await expect(
      restoreStore(join(folder, 'store'), await readBackup(file), { moveTo: join(folder, 'old') }),
    ).rejects.toMatchObject({ code: 'KW_STORAGE_LOCKED' })
    await fill(store, 3, 1)
  })

  test('leaves a folder that cannot be opened when it is interrupted, and completes it when repeated', async () => {
    const { file, folder } = await backupOfThree()
    const backup = await readBackup(file)
    const target = join(folder, 'store')
    const beforeReady = (): Promise<void> => Promise.reject(new Error('interrupted'))
    await expect(restoreStore(target, backup, { moveTo: join(folder, 'old'), beforeReady })).rejects.toThrow(
      'interrupted',
    )
    await expect(openDurableStore(target)).rejects.toMatchObject({
      code: 'KW_STORAGE_CORRUPT',
      message: `Cannot open ${target} as a restore was interrupted: run kubewright restore again, with --force`,
    })
    await restoreStore(target, backup, { moveTo: join(folder, 'old-2') })
    await using store = await openDurableStore(target)
    expect((await store.list({ prefix: '' })).entries).toHaveLength(3)
  })
})
