import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { kubernetes } from '@kubewright/k8s/releases'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../run-command.ts'
import { thisPlatform } from './asset-store.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubewright-envtest-it's-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function run(...args: string[]): Promise<{ code: number; out: string[]; notes: string }> {
  const out: string[] = []
  const notes: string[] = []
  const code = await runCommand(['envtest', ...args], {
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    env: { XDG_CACHE_HOME: join(folder, 'cache') },
    clock: systemClock,
    startedAt: 0,
    folder,
    envtestProgram: ['echo', "started by a folder that's quoted"],
    signal: new AbortController().signal,
  })
  return { code, out, notes: notes.join('\n') }
}

const { os, arch } = thisPlatform()
const version = (await kubernetes('1.36')).gitVersion.slice(1)
const path = (): string => join(folder, 'bin/k8s', `${version}-${os}-${arch}`)

describe('kubewright envtest use', () => {
  test('writes executable programs, and prints their folder in three forms', async () => {
    expect(await run('use', '1.36', '--bin-dir', 'bin')).toEqual({
      code: 0,
      out: [`Version: ${version}`, `OS/Arch: ${os}/${arch}`, `Path: ${path()}`],
      notes: '',
    })
    expect(readdirSync(path())).toEqual(['etcd', 'kube-apiserver', 'kubectl'])
    for (const name of readdirSync(path())) expect(statSync(join(path(), name)).mode & 0o777).toBe(0o755)
    expect((await run('use', '1.36.x!', '--bin-dir', 'bin', '-p', 'path')).out).toEqual([path()])
    const { out } = await run('use', version, '--bin-dir', 'bin', '-p', 'env')
    expect(execFileSync('sh', ['-c', `${out[0]}; echo "$KUBEBUILDER_ASSETS"`]).toString()).toBe(`${path()}\n`)
  })

  test('writes below the cache folder by default', async () => {
    const { out } = await run('use', '1.36', '-p', 'path')
    expect(out[0]).toMatch(/kubewright\/envtest\/k8s\/1\.36/)
    expect(existsSync(join(out[0]!, 'kube-apiserver'))).toBe(true)
  })

  test('its programs start the program with the version, and answer --help by themselves', async () => {
    await run('use', '1.36', '--bin-dir', 'bin')
    const server = join(path(), 'kube-apiserver')
    const line = `started by a folder that's quoted kube-apiserver ${version} --secure-port=1 a  b\n`
    expect(execFileSync(server, ['--secure-port=1', 'a  b']).toString()).toBe(line)
    // What envtest looks for.
    const help = execFileSync(server, ['--help']).toString()
    expect(help).toMatch(/^\s*--secure-port\b/m)
    expect(help).not.toMatch(/^\s*--insecure-port\b/m)
  })

  test('its kubectl runs another one on the PATH, or says that there is none', async () => {
    await run('use', '1.36', '--bin-dir', 'bin')
    const kubectl = join(path(), 'kubectl')
    const tools = join(folder, 'tools')
    mkdirSync(tools)
    const start = (search: string) =>
      spawnSync(kubectl, ['get', 'ns'], { encoding: 'utf8', env: { PATH: `${path()}:${search}:/bin` } })
    writeFileSync(join(tools, 'kubectl'), '#!/bin/sh\necho "real $*"\n', { mode: 0o755 })
    expect(start(tools)).toMatchObject({ status: 0, stdout: 'real get ns\n' })
    rmSync(join(tools, 'kubectl'))
    for (const tool of ['head', 'grep'])
      writeFileSync(join(tools, tool), `#!/bin/sh\nexec /usr/bin/${tool} "$@"\n`, { mode: 0o755 })
    expect(spawnSync(kubectl, [], { encoding: 'utf8', env: { PATH: `${path()}:${tools}` } })).toMatchObject({
      status: 127,
      stderr: 'kubewright envtest: no kubectl is installed: install it, or add it to PATH\n',
    })
  })

  test('refuses unknown versions, and folders with programs of others', async () => {
    expect(await run('use', '1.20', '--bin-dir', 'bin')).toMatchObject({
      code: 1,
      notes: expect.stringMatching(/no version fits 1\.20: .*1\.36.* are available$/i),
    })
    expect(await run('use', '1.36', '-i', '--bin-dir', 'bin')).toMatchObject({ code: 1 })
    mkdirSync(path(), { recursive: true })
    writeFileSync(join(path(), 'etcd'), 'another program')
    expect(await run('use', '1.36', '--bin-dir', 'bin')).toMatchObject({
      code: 1,
      notes: expect.stringContaining('is not a program of kubewright: remove the folder'),
    })
    expect(await run('use', '1.x')).toMatchObject({ code: 2 })
  })
})

describe('kubewright envtest list and cleanup', () => {
  test('list and remove what use has written, and nothing else', async () => {
    await run('use', '1.36', '--bin-dir', 'bin')
    const other = join(folder, 'bin/k8s', `1.36.0-${os}-${arch}`)
    mkdirSync(other)
    writeFileSync(join(other, 'kube-apiserver'), 'another program')
    const installed = `(installed)  v${version}  ${os}/${arch}`
    expect((await run('list', '-i', '--bin-dir', 'bin')).out).toEqual([installed])
    expect((await run('list', '1.36', '--bin-dir', 'bin')).out).toEqual([
      installed,
      `(available)  v${version}  ${os}/${arch}`,
    ])
    expect((await run('use', '-i', '-p', 'path', '--bin-dir', 'bin')).out).toEqual([path()])
    expect((await run('cleanup', '<1.36', '--bin-dir', 'bin')).out).toEqual([])
    expect((await run('cleanup', '--bin-dir', 'bin')).out).toEqual([`removed ${version} (${os}/${arch})`])
    expect(readdirSync(join(folder, 'bin/k8s'))).toEqual([`1.36.0-${os}-${arch}`])
  })
})
