import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { backUpStore, readBackup, restoreStore } from './backup.ts'
import { checkStore, repairStore } from './check-store.ts'
import { openDurableStore } from './durable-store.ts'
import { markerName } from './marker.ts'

const folders: string[] = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-check-'))
  folders.push(folder)
  return folder
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Writes keys /00, /01, … in sequence and closes the store. Returns its folder. */
async function filled(count: number, valueBytes = 10): Promise<string> {
  const folder = join(await newFolder(), 'store')
  await using store = await openDurableStore(folder)
  for (let i = 0; i < count; i++) await store.put(`/${String(i).padStart(2, '0')}`, Buffer.alloc(valueBytes, 'x'), 0)
  return folder
}

/** The same in a snapshot and an empty log. */
async function filledSnapshot(count: number, valueBytes = 10): Promise<string> {
  const source = await filled(count, valueBytes)
  await backUpStore(source, `${source}.backup`)
  const folder = join(await newFolder(), 'store')
  await restoreStore(folder, await readBackup(`${source}.backup`))
  return folder
}

async function change(folder: string, prefix: string, edit: (file: Buffer) => Buffer): Promise<string> {
  const name = (await readdir(folder))
    .filter((one) => one.startsWith(prefix))
    .sort()
    .at(-1)!
  await writeFile(join(folder, name), edit(await readFile(join(folder, name))))
  return name
}
const flip =
  (at: number) =>
  (file: Buffer): Buffer => {
    file[at]! ^= 0x20
    return file
  }

describe('checkStore()', () => {
  test('reports files, revision and entries of an intact store, also while it is open', async () => {
    const folder = await filled(3)
    await using store = await openDurableStore(folder)
    await store.put('/more', Buffer.from('x'), 0)
    const { files, problems, notes, state } = await checkStore(folder)
    expect({ problems, notes }).toEqual({ problems: [], notes: [] })
    expect(files).toMatchObject([{ kind: 'log', format: 2, records: 4, problems: [] }])
    expect(state).toMatchObject({ revision: 5, entries: { length: 4 } })
  })

  test('notes an incomplete last write, which was never acknowledged', async () => {
    const folder = await filled(3)
    const name = await change(folder, 'log-', (file) => file.subarray(0, -5))
    // Of a killed process, the marker is older than the last writes.
    await rm(join(folder, markerName))
    const { problems, notes, state } = await checkStore(folder)
    expect(problems).toEqual([])
    expect(notes).toEqual([expect.stringMatching(`${name}: dropped [0-9]+ bytes of an incomplete write`)])
    expect(state?.revision).toBe(3)
  })

  test('reports damage with the file and the position, and changes nothing', async () => {
    const folder = await filled(3)
    const name = await change(folder, 'log-', flip(70))
    const before = await readFile(join(folder, name))
    const { problems, state } = await checkStore(folder)
    expect(problems).toEqual([`${name}: damaged at byte 68 (the checksum of a frame header does not match)`])
    expect(state).toBeUndefined()
    expect(await readFile(join(folder, name))).toEqual(before)
  })

  test('reports a missing log', async () => {
    const folder = await filledSnapshot(20)
    for (const name of await readdir(folder)) if (name.startsWith('log-')) await rm(join(folder, name))
    expect((await checkStore(folder)).problems).toEqual([
      expect.stringMatching('the log after snapshot-[0-9]+ is missing'),
    ])
  })
})

describe('repairStore()', () => {
  test('changes nothing when there is no damage', async () => {
    const folder = await filled(3)
    expect(await repairStore(folder, `${folder}.old`)).toBeUndefined()
    expect(await readdir(join(folder, '..'))).toEqual(['store'])
  })

  test('rejects a store that a process has open', async () => {
    const folder = await filled(3)
    await using _store = await openDurableStore(folder)
    await expect(repairStore(folder, `${folder}.old`)).rejects.toMatchObject({ code: 'KW_STORAGE_LOCKED' })
  })

  test('keeps the writes before the damage of a log, lists the lost ones, and keeps the old files', async () => {
    const folder = await filled(5)
    const name = await change(folder, 'log-', flip(70))
    const damaged = await readFile(join(folder, name))
    const repair = await repairStore(folder, `${folder}.old`)
    expect(repair).toMatchObject({
      revision: 1_000_000_006,
      entries: 1,
      losses: [
        {
          kind: 'writes',
          after: 2,
          upTo: 6,
          keys: ['/02', '/03', '/04'],
          why: `${name} is damaged at byte 68 (the checksum of a frame header does not match)`,
        },
      ],
    })
    expect(await readFile(join(`${folder}.old`, name))).toEqual(damaged)
    await using store = await openDurableStore(folder)
    expect((await store.list({ prefix: '' })).entries.map((e) => e.key)).toEqual(['/00'])
    expect(await store.revision()).toBe(1_000_000_006)
  })

  test('keeps the writes of a log that was cut, and states how many are missing', async () => {
    const folder = await filled(5)
    await change(folder, 'log-', (file) => file.subarray(0, 20 + 2 * 48))
    const why = 'its files end at revision 3, but it has had revision 6: at least 3 writes are missing'
    expect((await checkStore(folder)).problems).toEqual([expect.stringContaining(why)])
    expect(await repairStore(folder, `${folder}.old`)).toMatchObject({
      revision: 1_000_000_006,
      entries: 2,
      losses: [{ kind: 'writes', after: 3, upTo: 6, keys: [], why }],
    })
    await using store = await openDurableStore(folder)
    expect((await store.list({ prefix: '' })).entries.map((e) => e.key)).toEqual(['/00', '/01'])
  })

  test('loses nothing when only the header of a log is damaged', async () => {
    const folder = await filled(5)
    await change(folder, 'log-', flip(3))
    expect(await repairStore(folder, `${folder}.old`)).toMatchObject({ entries: 5, losses: [] })
  })

  test('keeps the intact parts of a snapshot and names the range of lost keys', async () => {
    // Frames of a snapshot have about 256 KiB: three entries each.
    const folder = await filledSnapshot(12, 100_000)
    const name = await change(folder, 'snapshot-', flip(400_000))
    const repair = await repairStore(folder, `${folder}.old`)
    expect(repair).toMatchObject({
      entries: 9,
      losses: [{ kind: 'entries', file: name, count: 3, ranges: [{ after: '/02', before: '/06' }] }],
    })
    await using store = await openDurableStore(folder)
    const keys = (await store.list({ prefix: '' })).entries.map((e) => e.key)
    expect(keys).toEqual(['/00', '/01', '/02', '/06', '/07', '/08', '/09', '/10', '/11'])
  })

  test('keeps a prefix of the history, whichever byte of the log is damaged', async () => {
    const source = await filled(4)
    const [name] = await readdir(source)
    const whole = await readFile(join(source, name!))
    for (let at = 0; at < whole.length; at += 9) {
      const folder = join(await newFolder(), 'store')
      await using _new = await openDurableStore(folder)
      await _new[Symbol.asyncDispose]()
      await writeFile(join(folder, name!), flip(at)(Buffer.from(whole)))
      const repair = await repairStore(folder, `${folder}.old`)
      await using store = await openDurableStore(folder)
      const keys = (await store.list({ prefix: '' })).entries.map((e) => e.key)
      expect(['/00', '/01', '/02', '/03'].slice(0, keys.length)).toEqual(keys)
      const complete = at < 20 ? 4 : Math.floor((at - 20) / 48)
      expect(keys).toHaveLength(complete)
      expect(repair?.losses.length).toBe(at < 20 ? 0 : 1)
    }
  })
})
