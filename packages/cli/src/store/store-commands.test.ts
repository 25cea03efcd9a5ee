import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { openDurableStore, writePrivateFile } from '@kubewright/storage'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../run-command.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-store-commands-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function run(...args: string[]): Promise<{ code: number; out: string; notes: string }> {
  const out: string[] = []
  const notes: string[] = []
  const { signal } = new AbortController()
  const code = await runCommand(args, {
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    env: {},
    clock: systemClock,
    startedAt: 0,
    folder,
    signal,
  })
  return { code, out: out.join('\n'), notes: notes.join('\n') }
}

const object = (kind: string, metadata: object): Uint8Array =>
  Buffer.from(JSON.stringify({ kind, apiVersion: 'v1', metadata }))

/** A data folder with a namespace, a config map and a key. */
async function dataWith(...more: readonly (readonly [string, Uint8Array])[]): Promise<void> {
  const store = await openDurableStore(join(folder, 'data', 'store'))
  const namespace = object('Namespace', { name: 'default', uid: 'u1' })
  await store.put('/registry/namespaces/default', namespace, 0)
  await store.put(
    '/registry/configmaps/default/a',
    object('ConfigMap', { name: 'a', namespace: 'default', uid: 'u2' }),
    0,
  )
  for (const [key, value] of more) await store.put(key, value, 0)
  await store[Symbol.asyncDispose]()
  await writePrivateFile(join(folder, 'data', 'pki', 'ca.key'), 'secret key')
}

const onlyLog = async (): Promise<string> =>
  join(folder, 'data', 'store', (await readdir(join(folder, 'data', 'store')))[0]!)

describe('kubewright backup and restore', () => {
  test('restore the objects and the keys', async () => {
    await dataWith()
    expect(await run('backup', 'b', '--data', 'data')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Wrote 2 objects at resource version 3 to b \(1 KiB\)$/),
    })
    expect(await run('restore', 'b', '--data', 'new')).toMatchObject({
      code: 0,
      out: 'Restored 2 objects of resource version 3 to new',
    })
    expect(await readFile(join(folder, 'new/pki/ca.key'), 'utf8')).toBe('secret key')
    expect((await stat(join(folder, 'new/pki/ca.key'))).mode & 0o777).toBe(0o600)
    expect(await run('check', 'new')).toEqual({
      code: 0,
      out: 'new is intact: 2 objects at resource version 1000000003, format 2',
      notes: '',
    })
  })

  test('name a backup after the time, and do not replace a file without --force', async () => {
    await dataWith()
    await run('backup', '--data', 'data')
    const [name] = (await readdir(folder)).filter((file) => /^kubewright-\d{8}-\d{6}\.backup$/.test(file))
    const again = await run('backup', name!, '--data', 'data')
    expect(again).toMatchObject({ code: 2, notes: expect.stringContaining(`${name} exists`) })
    expect((await run('backup', name!, '--data', 'data', '--force')).code).toBe(0)
  })

  test('refuse a folder without a store, and mention etcd', async () => {
    expect(await run('backup', 'b', '--data', 'nowhere')).toMatchObject({
      code: 2,
      notes: expect.stringContaining('nowhere has no stored objects'),
    })
    expect((await run('backup', '--help')).out).toContain('etcdctl snapshot save')
  })

  test('refuse a running server, a folder that is not empty and a damaged backup, and change nothing', async () => {
    await dataWith()
    await run('backup', 'b', '--data', 'data')
    const before = await readFile(await onlyLog())
    const notEmpty = await run('restore', 'b', '--data', 'data')
    expect(notEmpty).toMatchObject({ code: 1, notes: expect.stringContaining('as it is not empty') })
    const whole = await readFile(join(folder, 'b'))
    whole[100]! ^= 1
    await writeFile(join(folder, 'damaged'), whole)
    const damaged = await run('restore', 'damaged', '--data', 'data', '--force')
    expect(damaged).toMatchObject({ code: 1, notes: expect.stringMatching(/damaged at byte \d+/) })
    expect(await readFile(await onlyLog())).toEqual(before)
    const store = await openDurableStore(join(folder, 'data', 'store'))
    const running = await run('restore', 'b', '--data', 'data', '--force')
    await store[Symbol.asyncDispose]()
    expect(running).toMatchObject({ code: 1, notes: expect.stringContaining(`process ${process.pid} has it open`) })
    expect(await readFile(await onlyLog())).toEqual(before)
    expect((await readdir(join(folder, 'data'))).sort()).toEqual(['pki', 'store'])
  })

  test('keep the replaced files and keys beside the restored ones with --force', async () => {
    await dataWith()
    await run('backup', 'b', '--data', 'data')
    const { code, notes } = await run('restore', 'b', '--data', 'data', '--force')
    expect({ code, notes }).toEqual({ code: 0, notes: expect.stringContaining('The previous files are in') })
    const names = (await readdir(join(folder, 'data'))).map((name) => name.replace(/\d{8}-\d{6}/, 'TIME'))
    expect(names.sort()).toEqual(['pki', 'pki.replaced-TIME', 'store', 'store.replaced-TIME'])
  })
})

describe('kubewright check', () => {
  test('reports damage with exit code 1, and repairs it', async () => {
    await dataWith(['/registry/configmaps/default/b', object('ConfigMap', { name: 'b', namespace: 'default' })])
    const log = await onlyLog()
    const file = await readFile(log)
    file[file.length - 1]! ^= 1
    await writeFile(log, file)
    const damaged = await run('check', 'data')
    expect(damaged).toMatchObject({ code: 1, out: 'data is damaged: 1 problem' })
    expect(damaged.notes).toMatch(/^damaged: log-0000000000000001: damaged at byte \d+ \(the checksum does not match\)/)
    const repaired = await run('check', 'data', '--repair')
    expect(repaired).toMatchObject({ code: 0, out: 'Rebuilt data with 2 objects; see the losses above' })
    expect(repaired.notes).toMatch(/^lost: the writes with resource version 4, as log-0000000000000001 is damaged/)
    expect((await run('check', 'data')).code).toBe(0)
    expect((await run('check', 'data', '--repair')).out).toBe('data is intact: nothing to repair')
  })

  test('reports objects that cannot be decoded or belong to another key, and warns about references', async () => {
    const owner = { kind: 'Job', name: 'gone', uid: 'u9' }
    await dataWith(
      ['/registry/configmaps/default/broken', Buffer.from('{')],
      ['/registry/configmaps/default/other', object('ConfigMap', { name: 'x', namespace: 'default' })],
      ['/registry/configmaps/gone/c', object('ConfigMap', { name: 'c', namespace: 'gone', uid: 'u2' })],
      ['/registry/pods/default/p', object('Pod', { name: 'p', namespace: 'default', ownerReferences: [owner] })],
    )
    const { code, notes } = await run('check', 'data')
    expect(code).toBe(1)
    expect(notes.split('\n').slice(0, 5)).toEqual([
      'damaged: /registry/configmaps/default/broken: is not JSON',
      'damaged: /registry/configmaps/default/other: contains the object default/x',
      'warning: /registry/configmaps/gone/c: has the UID of /registry/configmaps/default/a',
      'warning: /registry/configmaps/gone/c: its namespace does not exist',
      'warning: /registry/pods/default/p: its owner Job gone does not exist',
    ])
  })

  test('verifies a backup', async () => {
    await dataWith()
    await run('backup', 'b', '--data', 'data')
    expect(await run('check', 'b')).toMatchObject({ code: 0, out: expect.stringContaining('b is intact: 2 objects') })
    await writeFile(join(folder, 'b'), (await readFile(join(folder, 'b'))).subarray(0, -1))
    expect(await run('check', 'b')).toMatchObject({ code: 1, out: 'b is damaged: 1 problem' })
  })
})
