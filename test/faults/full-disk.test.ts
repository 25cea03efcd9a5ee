// `kubewright up` on a disk that is full or read-only. Needs permission to mount a file system in memory.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { runCli } from '../import/run-cli.ts'
import { configMap, Requests } from '../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'

const mount = (...args: string[]): boolean => spawnSync('mount', args, { stdio: 'ignore' }).status === 0

/** A file system of 4 MiB; undefined without the permission to mount it. */
function smallDisk(path: string): (Disposable & { setReadOnly(): boolean }) | undefined {
  mkdirSync(path)
  if (process.platform !== 'linux' || !mount('-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path)) return undefined
  return {
    setReadOnly: () => mount('-o', 'remount,ro', path),
    [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]),
  }
}

test('up on a full disk refuses writes with the reason, serves reads, loses nothing and recovers when there is space', async (context) => {
  using folder = new TemporaryFolder()
  const data = join(folder.path, 'data')
  using disk = smallDisk(data)
  if (!disk) return context.skip('mounting a file system in memory needs root')
  const ballast = join(data, 'ballast')
  writeFileSync(ballast, Buffer.alloc(1024 * 1024))
  const args = ['--data', data, '--controllers', 'none']
  const stored: string[] = []
  {
    await using up = await UpProcess.start(args, folder.path)
    using requests = new Requests(up.kubeconfig)
    const write = async (name: string): Promise<{ status: number; text: string }> => {
      const answer = await requests.send('POST', maps, configMap(name, 'x'.repeat(200_000)))
      if (answer.status === 201) stored.push(name)
      return answer
    }
    let refused: { status: number; text: string } | undefined
    for (let i = 0; i < 40 && !refused; i++) {
      const answer = await write(`m${i}`)
      if (answer.status !== 201) refused = answer
    }
    expect(stored.length).toBeGreaterThan(5)
    expect(refused?.status).toBe(500)
    expect(refused?.text).toContain('the storage failed: the disk is full (ENOSPC), and nothing was stored')
    expect(refused?.text).not.toContain(data)
    expect((await requests.send('GET', maps)).status).toBe(200)
    expect((await write('still-full')).status).toBe(500)
    rmSync(ballast)
    expect((await write('space-again')).status).toBe(201)
    await up.stop('SIGKILL')
  }
  await using up = await UpProcess.start(args, folder.path)
  using requests = new Requests(up.kubeconfig)
  const { body } = await requests.send('GET', maps)
  const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  expect(names.filter((name: string) => name !== 'kube-root-ca.crt').sort()).toEqual(stored.sort())
}, 120_000)

test('a read-only disk can be backed up and checked, and up names the reason why it cannot start', async (context) => {
  using folder = new TemporaryFolder()
  const data = join(folder.path, 'data')
  using disk = smallDisk(data)
  if (!disk) return context.skip('mounting a file system in memory needs root')
  const args = ['--data', data, '--controllers', 'none']
  const up = await UpProcess.start(args, folder.path)
  expect(await up.stop()).toBe(0)
  expect(disk.setReadOnly()).toBe(true)
  const refused = await UpProcess.fail(args, folder.path)
  expect(refused.code).toBe(1)
  expect(refused.notes.join('\n')).toContain('its file system is read-only (EROFS)')
  const backup = join(folder.path, 'backup')
  expect((await runCli(['backup', backup, '--data', data])).code).toBe(0)
  expect((await runCli(['check', data])).code).toBe(0)
  expect((await runCli(['restore', backup, '--data', data, '--force'])).notes).toContain('its file system is read-only')
  expect((await runCli(['check', backup])).code).toBe(0)
}, 120_000)

test('backup, check and restore work with a running and a stopped control plane', async () => {
  using folder = new TemporaryFolder()
  const data = join(folder.path, 'data')
  const backup = join(folder.path, 'backup')
  const args = ['--data', data, '--controllers', 'none', '--port', String(await freePort())]
  const up = await UpProcess.start(args, folder.path)
  using requests = new Requests(up.kubeconfig)
  expect((await requests.send('POST', maps, configMap('before', 'x'))).status).toBe(201)
  expect((await runCli(['backup', backup, '--data', data])).code).toBe(0)
  expect((await requests.send('POST', maps, configMap('after', 'x'))).status).toBe(201)
  expect((await runCli(['check', data])).code).toBe(0)
  const running = await runCli(['restore', backup, '--data', data, '--force'])
  expect(running.notes).toContain(`process ${up.child.pid} has it open`)
  expect(await up.stop()).toBe(0)
  expect((await runCli(['restore', backup, '--data', data, '--force'])).code).toBe(0)
  await using again = await UpProcess.start(args, folder.path)
  expect(again.server).toBe(up.server)
  // The client trusts the server as before: the keys are restored too.
  const { body } = await requests.send('GET', maps)
  const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  expect(names).toContain('before')
  expect(names).not.toContain('after')
  expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(1_000_000_000)
}, 120_000)
