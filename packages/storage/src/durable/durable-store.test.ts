import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { storageContract } from '../contract/contract.ts'
import { CompactedError } from '../store/storage-error.ts'
import type { Store } from '../store/store.ts'
import { type Disk, nodeDisk } from './disk.ts'
import { openDurableStore } from './durable-store.ts'
import { markerName, readMarker } from './marker.ts'
import { headerSize } from './wal-format.ts'

const folders: string[] = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-store-'))
  folders.push(folder)
  return folder
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const all = async (store: Store): Promise<Record<string, string>> => {
  const { entries } = await store.list({ prefix: '' })
  return Object.fromEntries(entries.map((e) => [e.key, new TextDecoder().decode(e.value)]))
}
/** Writes keys /0 to /n-1 in sequence and closes the store. */
async function fill(folder: string, n: number): Promise<void> {
  await using store = await openDurableStore(folder)
  for (let i = 0; i < n; i++) await store.put(`/${i}`, bytes(`value ${i}`), 0)
}
/** Makes a folder that was closed look like that of a killed process, whose marker is older than its last writes. */
const forgetEnd = (folder: string): Promise<void> => rm(join(folder, markerName))
const logOf = async (folder: string): Promise<string> =>
  join(
    folder,
    (await readdir(folder))
      .filter((name) => name.startsWith('log-'))
      .sort()
      .at(-1)!,
  )

storageContract('DurableStore', test, async () => openDurableStore(await newFolder()))
storageContract('DurableStore with a snapshot after every few writes', test, async () =>
  openDurableStore(await newFolder(), { snapshotBytes: 400 }),
)

describe('openDurableStore()', () => {
  test('limits its history by bytes, for the writes of a log that it replays and for new ones', async () => {
    const folder = await newFolder()
    const value = new Uint8Array(10_000)
    const overwrite = async (store: Store, times: number): Promise<void> => {
      for (let i = 0; i < times; i++) {
        const { entry } = await store.get('/a')
        await store.put('/a', value, entry?.modRevision ?? 0)
      }
    }
    {
      await using store = await openDurableStore(folder)
      await overwrite(store, 100)
      expect(store.historyBytes).toBe(99 * value.length)
    }
    await using store = await openDurableStore(folder, { historyBytes: 100_000 })
    expect(store.historyBytes).toBeLessThanOrEqual(100_000)
    await overwrite(store, 50)
    expect(store.historyBytes).toBeLessThanOrEqual(100_000)
    await expect(store.get('/a', { revision: 20 })).rejects.toBeInstanceOf(CompactedError)
    expect(await store.revision()).toBe(151)
  })

  test('restores all entries, revisions and history', async () => {
    const folder = await newFolder()
    await fill(folder, 20)
    await using store = await openDurableStore(folder)
    expect(Object.keys(await all(store))).toHaveLength(20)
    expect(await store.revision()).toBe(21)
    expect((await store.get('/3', { revision: 5 })).entry?.modRevision).toBe(5)
    const seen: number[] = []
    for await (const { changes } of store.watch({ prefix: '/', after: 18 })) {
      seen.push(...changes.map((c) => c.revision))
      if (seen.length === 3) break
    }
    expect(seen).toEqual([19, 20, 21])
  })

  test('restores from a snapshot and the log after it', async () => {
    const folder = await newFolder()
    {
      await using store = await openDurableStore(folder, { snapshotBytes: 2000 })
      for (let i = 0; i < 200; i++)
        await store.put(`/${i % 50}`, bytes(`v${i}`), (await store.get(`/${i % 50}`)).entry?.modRevision ?? 0)
      await store.delete('/7', (await store.get('/7')).entry!.modRevision)
    }
    expect((await readdir(folder)).some((name) => name.startsWith('snapshot-'))).toBe(true)
    await using store = await openDurableStore(folder)
    const state = await all(store)
    expect(Object.keys(state)).toHaveLength(49)
    expect(state['/49']).toBe('v199')
    expect(await store.revision()).toBe(202)
    expect((await store.get('/49')).entry?.createRevision).toBe(51)
  })

  test('writes a snapshot only when the log is as large as the last one, also after a restart', async () => {
    const folder = await newFolder()
    const disk = await nodeDisk(folder)
    let snapshots = 0
    const counting: Disk = {
      ...disk,
      rename: (from, to) => {
        if (to.startsWith('snapshot-')) snapshots++
        return disk.rename(from, to)
      },
    }
    const value = new Uint8Array(10_000)
    for (let round = 0; round < 10; round++) {
      await using store = await openDurableStore(folder, { disk: counting, snapshotBytes: 1000 })
      for (let i = 0; i < 10; i++) await store.put(`/${round}-${i}`, value, 0)
    }
    // 1 MB of values: the sizes double from one snapshot to the next.
    expect(snapshots).toBeGreaterThan(3)
    expect(snapshots).toBeLessThan(12)
  })

  test('drops an incomplete last write, cut at any byte, and nothing before it', async () => {
    const folder = await newFolder()
    await fill(folder, 3)
    const log = await logOf(folder)
    const whole = await readFile(log)
    const lengths = [whole.length]
    await fill(await newFolder(), 2).then(async () =>
      lengths.push((await readFile(await logOf(folders.at(-1)!))).length),
    )
    for (let length = lengths[1]! + 1; length < whole.length; length++) {
      await writeFile(log, whole)
      await truncate(log, length)
      await forgetEnd(folder)
      await using store = await openDurableStore(folder)
      expect(Object.keys(await all(store))).toEqual(['/0', '/1'])
      expect((await store.put('/2', bytes('again'), 0)).ok).toBe(true)
    }
  })

  test('rejects a log that was cut anywhere, also between two writes, and says how much is missing', async () => {
    const folder = await newFolder()
    await fill(folder, 5)
    const log = await logOf(folder)
    const whole = await readFile(log)
    const frame = (whole.length - headerSize) / 5
    for (let length = headerSize; length < whole.length; length += 5) {
      await writeFile(log, whole.subarray(0, length))
      const left = 1 + Math.floor((length - headerSize) / frame)
      const missing = `its files end at revision ${left}, but it has had revision 6: at least ${6 - left} writes are missing`
      await expect(openDurableStore(folder)).rejects.toMatchObject({
        code: 'KW_STORAGE_CORRUPT',
        message: expect.stringContaining(missing),
      })
      expect(await readFile(log)).toEqual(whole.subarray(0, length))
    }
    await rm(log)
    await expect(openDurableStore(folder)).rejects.toThrow(/files end at revision 1, .* at least 5 writes are missing/)
    await writeFile(log, whole)
    await using store = await openDurableStore(folder)
    expect(await store.revision()).toBe(6)
  })

  test('states how far its log reaches whenever the log has grown, also when the process is killed', async () => {
    const folder = await newFolder()
    const disk = await nodeDisk(folder)
    // Never closed.
    const store = await openDurableStore(folder, { disk })
    for (let i = 0; i < 6; i++) await store.put(`/${i}`, new Uint8Array(200_000), 0)
    const log = await logOf(folder)
    await expect.poll(() => readMarker(disk)).toBeGreaterThanOrEqual(6)
    await truncate(log, headerSize)
    await expect(openDurableStore(folder)).rejects.toThrow(/files end at revision 1, but it has had revision [67]/)
    await store[Symbol.asyncDispose]()
  })

  test('rejects a damaged marker, and creates a missing one', async () => {
    const folder = await newFolder()
    await fill(folder, 2)
    const marker = join(folder, markerName)
    const whole = await readFile(marker)
    for (const damaged of [Buffer.alloc(0), whole.subarray(0, 19), Buffer.from(whole).fill('x', 9, 10)]) {
      await writeFile(marker, damaged)
      await expect(openDurableStore(folder)).rejects.toThrow(/as newest is damaged/)
    }
    await rm(marker)
    await (await openDurableStore(folder))[Symbol.asyncDispose]()
    expect(await readFile(marker)).toEqual(whole)
  })

  test('does not follow a link in the place of its lock or log', async () => {
    const folder = await newFolder()
    await fill(folder, 2)
    const other = join(await newFolder(), 'precious')
    await writeFile(other, 'precious')
    await symlink(other, join(folder, 'lock'))
    await expect(openDurableStore(folder)).rejects.toMatchObject({
      code: 'KW_STORAGE_FOLDER',
      cause: { code: 'ELOOP' },
    })
    await rm(join(folder, 'lock'))
    await rename(await logOf(folder), other)
    await symlink(other, join(folder, 'log-0000000000000001'))
    await expect(openDurableStore(folder)).rejects.toMatchObject({
      code: 'KW_STORAGE_FOLDER',
      cause: { code: 'ELOOP' },
    })
  })

  test('rejects a log in which any acknowledged byte was changed', async () => {
    const folder = await newFolder()
    await fill(folder, 3)
    const log = await logOf(folder)
    const whole = await readFile(log)
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 0x10
      await writeFile(log, damaged)
      await expect(openDurableStore(folder)).rejects.toMatchObject({
        code: 'KW_STORAGE_CORRUPT',
        message: expect.stringContaining(folder),
      })
    }
  })

  test.each([
    ['EACCES', 'there is no permission to write to it'],
    ['EROFS', 'its file system is read-only'],
    ['ENOSPC', 'the disk is full'],
  ])('reports a folder that is not writable and closes its files: %s', async (code, reason) => {
    const folder = await newFolder()
    const disk = await nodeDisk(folder)
    let open = 0
    const failing: Disk = {
      ...disk,
      open: async (name) => {
        const file = await disk.open(name)
        open++
        return {
          write: () => Promise.reject(Object.assign(new Error(`${code}: refused`), { code })),
          truncate: (length) => file.truncate(length),
          close: () => {
            open--
            return file.close()
          },
        }
      },
    }
    await expect(openDurableStore('some/folder', { disk: failing })).rejects.toMatchObject({
      code: 'KW_STORAGE_FOLDER',
      message: `Cannot open a store in ${resolve('some/folder')} as ${reason} (${code}): choose another folder or fix this one`,
      cause: { code },
    })
    expect(open).toBe(0)
  })

  test('reports a folder that cannot be created: part of its path is a file', async () => {
    const file = join(await newFolder(), 'file')
    await writeFile(file, '')
    await expect(openDurableStore(join(file, 'store'))).rejects.toMatchObject({
      code: 'KW_STORAGE_FOLDER',
      message: expect.stringContaining(`${join(file, 'store')} as a part of the path is a file (ENOTDIR)`),
    })
  })

  test('rejects a folder with foreign files and names the file', async () => {
    const folder = await newFolder()
    await writeFile(join(folder, 'thesis.doc'), 'precious')
    await expect(openDurableStore(folder)).rejects.toThrow(/contains thesis\.doc, which does not belong to this store/)
    expect(await readFile(join(folder, 'thesis.doc'), 'utf8')).toBe('precious')
  })

  test('rejects a folder whose snapshot or middle log is missing', async () => {
    const folder = await newFolder()
    {
      await using store = await openDurableStore(folder, { snapshotBytes: 500 })
      for (let i = 0; i < 40; i++) await store.put(`/${i}`, bytes('x'), 0)
    }
    for (const name of await readdir(folder)) if (name.startsWith('snapshot-')) await rm(join(folder, name))
    await expect(openDurableStore(folder)).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
  })

  test('locks the folder for one process at a time and takes over the lock of a dead one', async () => {
    const folder = await newFolder()
    {
      await using _store = await openDurableStore(folder)
      await expect(openDurableStore(folder)).rejects.toMatchObject({
        code: 'KW_STORAGE_LOCKED',
        message: `Cannot open ${folder} as process ${process.pid} has it open: stop that process or choose another folder`,
      })
    }
    await writeFile(join(folder, 'lock'), '999999999 1')
    await (await openDurableStore(folder))[Symbol.asyncDispose]()
  })

  test('lets one of many processes take over a stale lock, and rejects a second path to the same folder in one process', async () => {
    const folder = await newFolder()
    await writeFile(join(folder, 'lock'), '999999999 1')
    const alias = join(await newFolder(), 'alias')
    await symlink(folder, alias)
    const opened = await Promise.allSettled([
      openDurableStore(folder),
      openDurableStore(alias),
      openDurableStore(`${folder}/`),
    ])
    const stores = opened.filter((result) => result.status === 'fulfilled')
    expect(stores).toHaveLength(1)
    for (const result of opened)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'KW_STORAGE_LOCKED' })
    await stores[0]!.value[Symbol.asyncDispose]()
    expect((await readdir(folder)).filter((name) => !name.startsWith('log-'))).toEqual([markerName])
  })

  test('drops an incomplete write also when an empty log follows', async () => {
    const folder = await newFolder()
    await fill(folder, 3)
    const log = await logOf(folder)
    const header = (await readFile(log)).subarray(0, 16)
    await truncate(log, (await readFile(log)).length - 1)
    await forgetEnd(folder)
    for (const rest of [Buffer.alloc(0), header.subarray(0, 7), header]) {
      await writeFile(join(folder, 'log-0000000000000003'), rest)
      await using store = await openDurableStore(folder)
      expect(Object.keys(await all(store))).toEqual(['/0', '/1'])
    }
    await using store = await openDurableStore(folder)
    expect((await store.put('/2', bytes('again'), 0)).revision).toBe(4)
  })

  test('rejects a folder that another running process has open', async () => {
    const folder = await newFolder()
    await using child = await startWriter(folder)
    await expect(openDurableStore(folder)).rejects.toMatchObject({
      code: 'KW_STORAGE_LOCKED',
      message: expect.stringContaining(`process ${child.process.pid}`),
    })
  })

  // A container on the same volume has its own PID namespace: the process that the file names cannot be seen, or is another one.
  test.skipIf(spawnSync('flock', ['--version']).error !== undefined)(
    'rejects a folder that a process of another PID namespace has open (needs the flock command)',
    async () => {
      const folder = await newFolder()
      await using _child = await startWriter(folder)
      await writeFile(join(folder, 'lock'), '999999999 1 other-boot/pid:[1]')
      await expect(openDurableStore(folder)).rejects.toMatchObject({
        code: 'KW_STORAGE_LOCKED',
        message: expect.stringContaining('process 999999999 of another container has it open'),
      })
      // The named process seems to be dead: only the lock of the operating system rejects the folder.
      await writeFile(join(folder, 'lock'), '999999999 1')
      await expect(openDurableStore(folder)).rejects.toMatchObject({ code: 'KW_STORAGE_LOCKED' })
    },
  )

  test('rejects writes after its lock file was deleted, because another process may have the folder open', async () => {
    const folder = await newFolder()
    await using store = await openDurableStore(folder)
    await store.put('/a', bytes('1'), 0)
    await rm(join(folder, 'lock'))
    await expect(store.put('/b', bytes('2'), 0)).rejects.toMatchObject({
      code: 'KW_STORAGE_WRITE',
      message: expect.stringContaining('its lock file was deleted'),
    })
    expect(Object.keys(await all(store))).toEqual(['/a'])
  })

  test('rejects a log with a zeroed frame header in the middle, and keeps the writes behind it', async () => {
    const folder = await newFolder()
    {
      await using store = await openDurableStore(folder)
      for (let i = 0; i < 4; i++) await store.put(`/${i}`, bytes('x'.repeat(2000)), 0)
    }
    const log = await logOf(folder)
    const whole = await readFile(log)
    const second = headerSize + 12 + whole.readUInt32LE(headerSize)
    // A whole sector, as a failed write of the medium leaves it: the header of the second frame is in it.
    for (const length of [12, 512, 1024]) {
      const damaged = Buffer.from(whole)
      damaged.fill(0, second, second + length)
      await writeFile(log, damaged)
      await expect(openDurableStore(folder)).rejects.toMatchObject({ code: 'KW_STORAGE_CORRUPT' })
      expect(await readFile(log)).toEqual(damaged)
    }
  })
})

/** A disk whose writes to logs fail with the error code that `plan` returns for them. */
async function failingDisk(folder: string, plan: (write: number) => string | undefined): Promise<Disk> {
  const disk = await nodeDisk(folder)
  let writes = 0
  return {
    ...disk,
    async open(name) {
      const file = await disk.open(name)
      if (!name.startsWith('log-')) return file
      return {
        async write(data, position) {
          const code = plan(writes++)
          if (code === undefined) return file.write(data, position)
          // Half of the data is written, as on a disk that fills up.
          await file.write(data.subarray(0, data.length >> 1), position)
          throw Object.assign(new Error(`${code}: failed`), { code })
        },
        truncate: (length) => file.truncate(length),
        close: () => file.close(),
      }
    },
  }
}

describe('DurableStore', () => {
  test('reports a full disk, loses nothing and resumes writes when there is space', async () => {
    const folder = await newFolder()
    // The second put fails within the file. The third one tries to make it larger, with zeros behind the frame and without.
    const disk = await failingDisk(folder, (write) => (write >= 2 && write <= 4 ? 'ENOSPC' : undefined))
    {
      await using store = await openDurableStore(folder, { disk })
      expect((await store.put('/a', bytes('1'), 0)).ok).toBe(true)
      await expect(store.put('/b', bytes('2'), 0)).rejects.toMatchObject({
        code: 'KW_STORAGE_WRITE',
        message: expect.stringContaining('the disk is full (ENOSPC)'),
      })
      await expect(store.put('/b', bytes('2'), 0)).rejects.toMatchObject({ code: 'KW_STORAGE_WRITE' })
      expect(await all(store)).toEqual({ '/a': '1' })
      expect((await store.put('/b', bytes('3'), 0)).ok).toBe(true)
    }
    await using again = await openDurableStore(folder)
    expect(await all(again)).toEqual({ '/a': '1', '/b': '3' })
  })

  test('writes without spare space when the disk has room for the write only', async () => {
    const folder = await newFolder()
    const disk = await failingDisk(folder, (write) => (write === 1 ? 'ENOSPC' : undefined))
    {
      await using store = await openDurableStore(folder, { disk })
      expect((await store.put('/a', bytes('1'), 0)).ok).toBe(true)
      expect((await store.put('/b', bytes('2'), 0)).ok).toBe(true)
    }
    await using again = await openDurableStore(folder)
    expect(again.openNotes).toEqual([])
    expect(await all(again)).toEqual({ '/a': '1', '/b': '2' })
  })

  test('keeps its log when a new one cannot be created, and leaves no files behind', async () => {
    const folder = await newFolder()
    const disk = await nodeDisk(folder)
    let failing = false
    const stubborn: Disk = {
      ...disk,
      async open(name) {
        const file = await disk.open(name)
        if (!failing || name.startsWith('snapshot') || name.startsWith('log-0000000000000001')) return file
        return { ...file, write: () => Promise.reject(new Error('no')), close: () => file.close() }
      },
    }
    {
      await using store = await openDurableStore(folder, { disk: stubborn, snapshotBytes: 100 })
      failing = true
      for (let i = 0; i < 20; i++) await store.put(`/${i}`, bytes('0123456789'), 0)
    }
    expect(await readdir(folder)).toEqual(['log-0000000000000001', markerName])
    failing = false
    {
      await using store = await openDurableStore(folder, { disk: stubborn, snapshotBytes: 100 })
      for (let i = 20; i < 40; i++) await store.put(`/${i}`, bytes('0123456789'), 0)
    }
    expect((await readdir(folder)).some((name) => name.startsWith('snapshot-'))).toBe(true)
    await using again = await openDurableStore(folder)
    expect(Object.keys(await all(again))).toHaveLength(40)
  })

  test('removes an incomplete snapshot and keeps the log', async () => {
    const folder = await newFolder()
    const disk = await nodeDisk(folder)
    const full: Disk = {
      ...disk,
      async open(name) {
        const file = await disk.open(name)
        if (!name.startsWith('snapshot')) return file
        return {
          write: () => Promise.reject(new Error('no')),
          truncate: (n) => file.truncate(n),
          close: () => file.close(),
        }
      },
    }
    {
      await using store = await openDurableStore(folder, { disk: full, snapshotBytes: 100 })
      for (let i = 0; i < 20; i++) await store.put(`/${i}`, bytes('0123456789'), 0)
    }
    expect((await readdir(folder)).filter((name) => !name.startsWith('log-'))).toEqual([markerName])
    await using again = await openDurableStore(folder)
    expect(Object.keys(await all(again))).toHaveLength(20)
  })

  test('waits for the same end when closed twice', async () => {
    const folder = await newFolder()
    const store = await openDurableStore(folder)
    const write = store.put('/a', bytes('1'), 0)
    await Promise.all([store[Symbol.asyncDispose](), store[Symbol.asyncDispose]()])
    expect((await write).ok).toBe(true)
    await (await openDurableStore(folder))[Symbol.asyncDispose]()
  })

  test('rejects all writes after a disk failure and still serves reads', async () => {
    const folder = await newFolder()
    const disk = await failingDisk(folder, (write) => (write === 2 ? 'EIO' : undefined))
    {
      await using store = await openDurableStore(folder, { disk })
      await store.put('/a', bytes('1'), 0)
      await expect(store.put('/b', bytes('2'), 0)).rejects.toMatchObject({ code: 'KW_STORAGE_UNCERTAIN' })
      await expect(store.put('/c', bytes('3'), 0)).rejects.toMatchObject({ code: 'KW_STORAGE_UNCERTAIN' })
      expect(await all(store)).toEqual({ '/a': '1' })
    }
    await using again = await openDurableStore(folder)
    expect(await all(again)).toEqual({ '/a': '1' })
  })

  test('keeps every acknowledged write through kill -9 under load', async () => {
    const folder = await newFolder()
    const acknowledged = new Map<string, string>()
    for (let round = 0; round < 3; round++) {
      await using writer = await startWriter(folder, acknowledged)
      await writer.acknowledged(150)
      writer.process.kill('SIGKILL')
      await once(writer.process, 'close')
    }
    await using store = await openDurableStore(folder)
    const state = await all(store)
    const lost = [...acknowledged].filter(([key, value]) => state[key] !== value)
    expect(acknowledged.size).toBeGreaterThanOrEqual(450)
    expect(lost).toEqual([])
    for (const [key, value] of Object.entries(state)) expect(value).toBe(`${key} `.repeat(40))
  })
})

/**
 * A process with 16 concurrent writers that runs until it is killed, and prints each key when its write was
 * acknowledged.
 */
async function startWriter(
  folder: string,
  acknowledged: Map<string, string> = new Map(),
): Promise<AsyncDisposable & { process: ChildProcess; acknowledged(count: number): Promise<void> }> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=kubewright-source',
      '--import',
      'tsx',
      join(import.meta.dirname, '../testdata', 'writer.ts'),
      folder,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let count = 0
  let notify: () => void = () => undefined
  createInterface({ input: child.stdout }).on('line', (key) => {
    if (key !== 'ready') acknowledged.set(key, `${key} `.repeat(40))
    count++
    notify()
  })
  child.once('close', () => notify())
  const reached = async (wanted: number): Promise<void> => {
    while (count < wanted) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the writer exited with code ${child.exitCode}`)
      await new Promise<void>((resolve) => {
        notify = resolve
      })
    }
  }
  await reached(1)
  return {
    process: child,
    acknowledged: (wanted) => reached(wanted + 1),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
    },
  }
}
