import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import type { PlaneConfig } from '@kubewright/controlplane'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { upConfig } from './plane-config.ts'
import { upFlags } from './up-command.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-etcd-flags-'))
  for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, name), name.toUpperCase())
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function configOf(args: readonly string[], env: Record<string, string> = {}): Promise<PlaneConfig> {
  const { values } = parseFlags(upFlags, args)
  return (await upConfig(values, { env, out: () => undefined })).config
}

describe('upConfig()', () => {
  test('accepts the flags of kube-apiserver for etcd', async () => {
    const files = ['ca', 'cert', 'key'].map((name) => `--etcd-${name}file=${join(folder, name)}`)
    const more = ['--etcd-prefix=/registry', '--etcd-compaction-interval=1m', '--shutdown-delay-duration=5s']
    const { store, serving } = await configOf(['--etcd-servers=https://a:1,https://b:2', ...files, ...more])
    expect(store).toEqual({
      kind: 'etcd',
      endpoints: ['https://a:1', 'https://b:2'],
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
      keyPrefix: '/registry',
      compaction: '1m',
    })
    expect(serving).toMatchObject({ shutdownDelay: '5s' })
  })

  test('reads the environment variables of etcdctl, which flags override', async () => {
    const env = { ETCDCTL_CACERT: '/none', ETCDCTL_USER: 'root:a:b' }
    const { store } = await configOf(['--etcd=https://a:1', `--etcd-cafile=${join(folder, 'ca')}`], env)
    expect(store).toMatchObject({ tls: { ca: 'CA' }, auth: { username: 'root', password: 'a:b' } })
    await expect(configOf(['--etcd=https://a:1'], { ETCDCTL_CERT: join(folder, 'cert') })).rejects.toThrow(
      'ETCDCTL_CERT and ETCDCTL_KEY must be set together',
    )
    await expect(configOf(['--etcd=https://a:1'], { ETCDCTL_USER: 'root' })).rejects.toThrow('NAME:PASSWORD')
  })

  test('leaves other stores unchanged', async () => {
    expect((await configOf([])).store).toEqual({ kind: 'durable', folder: '.kubewright/data' })
    expect((await configOf(['--memory'])).store).toEqual({ kind: 'memory' })
  })

  test.each([
    [['--etcd=http://a:1', '--etcd-servers=http://b:1'], '--etcd and --etcd-servers exclude each other'],
    [['--memory', '--etcd-servers=http://b:1'], '--memory and --etcd-servers exclude each other'],
    [['--etcd=http://a:1', '--etcd-certfile=c'], '--etcd-certfile and --etcd-keyfile must be given together'],
    [['--etcd-cafile=c'], 'The certificates of etcd have no effect without --etcd'],
    [['--etcd-servers=a:1'], '--etcd-servers must be URLs such as http://127.0.0.1:2379, not "a:1"'],
    [['--etcd=http://a:1', '--etcd-prefix=x'], '--etcd-prefix must be a path such as /kubewright'],
    [
      ['--etcd-compaction-interval=soon'],
      '--etcd-compaction-interval must be a duration such as 5m or 30s, not "soon"',
    ],
  ])('rejects %j', async (args, message) => {
    await expect(configOf(args)).rejects.toThrow(message)
  })
})
