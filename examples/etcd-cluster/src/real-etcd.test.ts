// Members are processes of a real etcd on ports of this machine.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemProcessHost } from '@kubewright/controllers'
import { Pod } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { freePorts } from '../../free-ports.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { etcdGateway } from './gateway.ts'
import { etcdOperator } from './operator.ts'
import { localSites } from './site.ts'

const version = /etcd Version: (\S+)/.exec(String(spawnSync('etcd', ['--version']).stdout))?.[1]
if (version === undefined) console.log('skipped: etcd is not installed (Debian: apt install etcd-server)')

const complete = (env: TestEnv, size: number) =>
  env.until(EtcdCluster, 'real', (e) => isTrue('Complete')(e) && e.status?.healthyMembers === size, { timeout: '2m' })

test.skipIf(version === undefined)(
  'etcdOperator grows, repairs and shrinks a real etcd cluster that is in use',
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-etcd-'))
    try {
      const sites = localSites({ folder, firstPort: await freePorts(16) })
      const operator = etcdOperator({ etcd: etcdGateway(), sites })
      await using env = await startTestEnv(operator, { nodes: { nodes: 1, processes: systemProcessHost() } })
      const urlOf = (name = ''): string =>
        sites({ name: 'real', namespace: 'default' }, Number(name.slice('real-'.length))).clientUrl
      const newest = ({ status }: EtcdCluster): string =>
        urlOf(
          status?.members
            .map(({ name }) => name)
            .sort()
            .at(-1),
        )

      const spec = { size: 1, replaceAfterSeconds: 30 }
      await env.client.create(EtcdCluster({ metadata: { name: 'real' }, spec }))
      const first = await complete(env, 1)
      await put(newest(first), 'greeting', 'hello')
      await env.client.patch(EtcdCluster, 'real', { spec: { size: 3 } })
      const grown = await complete(env, 3)
      expect(grown.status?.members).toHaveLength(3)
      expect(await get(newest(grown), 'greeting')).toBe('hello')

      // The first member and its data are lost. The cluster continues, and a new member replaces it.
      await env.client.delete(Pod, 'real-0', { gracePeriodSeconds: 0 })
      await put(newest(grown), 'greeting', 'hello again')
      await env.until(EtcdCluster, 'real', ({ status }) => !status?.members.some(({ name }) => name === 'real-0'), {
        timeout: '1m',
      })
      const repaired = await complete(env, 3)
      expect(repaired.status?.clusterID).toBe(first.status?.clusterID)
      expect(await get(newest(repaired), 'greeting')).toBe('hello again')

      await env.client.patch(EtcdCluster, 'real', { spec: { size: 2 } })
      const shrunk = await complete(env, 2)
      const members = shrunk.status?.members.map(({ name }) => name).sort()
      expect(members).toHaveLength(2)
      const pods = await env.client.list(Pod)
      expect(pods.map(({ metadata }) => metadata.name).sort()).toEqual(members)
      expect(await get(newest(shrunk), 'greeting')).toBe('hello again')
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function post(url: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(new URL(path, url), { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

/** Writes with retries during a leader election: etcd itself waits before it fails a request. */
async function put(url: string, key: string, value: string, attempts = 5): Promise<void> {
  try {
    await post(url, '/v3/kv/put', { key: base64(key), value: base64(value) })
  } catch (error) {
    if (attempts <= 1) throw error
    await put(url, key, value, attempts - 1)
  }
}

async function get(url: string, key: string): Promise<string> {
  const { kvs } = (await post(url, '/v3/kv/range', { key: base64(key) })) as { kvs: { value: string }[] }
  return Buffer.from(kvs[0]?.value ?? '', 'base64').toString()
}
