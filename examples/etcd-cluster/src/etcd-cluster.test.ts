import { Event, Pod, Service } from 'kubewright/k8s'
import { isFalse, isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { EtcdCluster } from './etcd-cluster.ts'
import { etcdOperator } from './operator.ts'
import { localSites } from './site.ts'
import { FakeEtcd } from './testdata/fake-etcd.ts'

const sites = localSites({ folder: '/fake', firstPort: 1000 })

interface Stage extends TestEnv {
  readonly fake: FakeEtcd
}

async function start(): Promise<Stage> {
  const fake = new FakeEtcd()
  const operator = etcdOperator({ etcd: fake.etcd, sites })
  const env = await startTestEnv(operator, { time: 'virtual', nodes: { nodes: 1, processes: fake.host } })
  return Object.assign(env, { fake })
}

async function startWith(size: number): Promise<Stage> {
  const stage = await start()
  await stage.client.create(EtcdCluster({ metadata: { name: 'e' }, spec: { size } }))
  await complete(stage, size)
  return stage
}

const complete = async (env: TestEnv, size: number) => {
  await env.until(
    EtcdCluster,
    'e',
    (e) => isTrue('Complete')(e) && e.status?.healthyMembers === size && e.spec.size === size,
  )
}
const resize = (env: TestEnv, size: number) =>
  env.client.subresource(EtcdCluster, 'scale').patch('e', { spec: { replicas: size } })
const names = async (env: TestEnv) => {
  const all = await env.client.list(Service, { labels: { 'etcd.example.com/cluster': 'e' } })
  return all.map(({ metadata }) => metadata.name).sort()
}
const pods = async (env: TestEnv) => (await env.client.list(Pod)).map(({ metadata }) => metadata.name).sort()

test('EtcdCluster grows one member at a time: Service, member, pod, promotion', async () => {
  await using env = await startWith(3)
  expect(env.fake.history).toEqual([
    'start e-0',
    'add http://127.0.0.1:1003',
    'start e-1',
    'promote e-1',
    'add http://127.0.0.1:1005',
    'start e-2',
    'promote e-2',
  ])
  expect(env.fake.violations).toEqual([])
  expect(await names(env)).toEqual(['e-0', 'e-1', 'e-2', 'e-client'])
  expect((await env.client.get(Service, 'e-2')).spec).toMatchObject({
    clusterIP: 'None',
    publishNotReadyAddresses: true,
  })
  const { status } = await env.client.get(EtcdCluster, 'e')
  expect(status).toMatchObject({ size: 3, healthyMembers: 3, lastOrdinal: 2, clusterID: env.fake.clusters[0]?.id })
  expect(status?.members.map(({ name, state }) => [name, state])).toEqual([
    ['e-0', 'Healthy'],
    ['e-1', 'Healthy'],
    ['e-2', 'Healthy'],
  ])
  const events = await env.client.list(Event, { fields: { 'involvedObject.kind': 'EtcdCluster' } })
  expect(events.map(({ reason }) => reason).sort()).toEqual([
    'MemberAdded',
    'MemberAdded',
    'MemberPromoted',
    'MemberPromoted',
  ])
})

test('EtcdCluster shrinks one member at a time: member, pod, Service; and does not reuse the name', async () => {
  await using env = await startWith(3)
  await env.fake.put('k', 'v')
  env.fake.history.length = 0
  await resize(env, 2)
  await complete(env, 2)
  expect(env.fake.history).toEqual(['remove e-2', 'end e-2'])
  expect(await names(env)).toEqual(['e-0', 'e-1', 'e-client'])
  expect(await pods(env)).toEqual(['e-0', 'e-1'])

  await resize(env, 3)
  await complete(env, 3)
  expect(await pods(env)).toEqual(['e-0', 'e-1', 'e-3'])
  expect(env.fake.clusters[0]?.rows.get('k')).toBe('v')
  expect(env.fake.violations).toEqual([])
})

test('EtcdCluster is polled every 10 s once it has settled, without writes', async () => {
  await using env = await startWith(3)
  await env.settled()
  const { metadata } = await env.client.get(EtcdCluster, 'e')
  const before = env.reconciles().length
  await env.advance('60s')
  expect(env.reconciles().length - before).toBe(6)
  expect((await env.client.get(EtcdCluster, 'e')).metadata.resourceVersion).toBe(metadata.resourceVersion)
})

test('EtcdCluster immediately replaces a member whose pod was deleted', async () => {
  await using env = await startWith(3)
  await env.fake.put('k', 'v')
  await env.client.delete(Pod, 'e-0')
  await env.until(EtcdCluster, 'e', (e) => e.status?.lastOrdinal === 3, { timeout: '30s' })
  await complete(env, 3)
  expect(await pods(env)).toEqual(['e-1', 'e-2', 'e-3'])
  expect(await names(env)).toEqual(['e-1', 'e-2', 'e-3', 'e-client'])
  expect(env.fake.clusters[0]?.rows.get('k')).toBe('v')
  expect(env.fake.violations).toEqual([])
})

test('EtcdCluster keeps a member that restarts in time and replaces one that does not', async () => {
  await using env = await startWith(3)
  env.fake.crash('e-1')
  await env.advance('30s')
  await complete(env, 3)
  expect(await pods(env)).toEqual(['e-0', 'e-1', 'e-2'])

  env.fake.broken.add('e-1')
  env.fake.crash('e-1')
  await env.until(EtcdCluster, 'e', (e) => e.status?.healthyMembers === 2)
  await env.advance('100s')
  expect(await pods(env)).toEqual(['e-0', 'e-1', 'e-2'])
  await env.until(EtcdCluster, 'e', (e) => e.status?.lastOrdinal === 3, { timeout: '60s' })
  await complete(env, 3)
  expect(await pods(env)).toEqual(['e-0', 'e-2', 'e-3'])
  expect(env.fake.violations).toEqual([])
})

test('EtcdCluster replaces a new member that does not start, without affecting the others', async () => {
  await using env = await startWith(1)
  env.fake.broken.add('e-1')
  await resize(env, 2)
  await complete(env, 2)
  expect(await pods(env)).toEqual(['e-0', 'e-2'])
  expect(env.fake.violations).toEqual([])
})

test('EtcdCluster without a majority is neither changed nor recreated, and continues when the majority is back', async () => {
  await using env = await startWith(3)
  for (const name of ['e-0', 'e-1']) {
    env.fake.broken.add(name)
    env.fake.crash(name)
  }
  const lost = await env.until(EtcdCluster, 'e', isFalse('Available'))
  expect(lost.status?.conditions.find(({ type }) => type === 'Available')?.reason).toBe('NoQuorum')
  await resize(env, 5)
  await env.advance('30m')
  expect(await pods(env)).toEqual(['e-0', 'e-1', 'e-2'])
  expect(env.fake.clusters).toHaveLength(1)
  env.fake.broken.clear()
  await complete(env, 5)
})

test('EtcdCluster deletes all its objects when it is deleted', async () => {
  await using env = await startWith(2)
  await env.client.delete(EtcdCluster, 'e')
  await Promise.all([env.gone(Pod, 'e-0'), env.gone(Pod, 'e-1'), env.gone(Service, 'e-1')])
  await env.gone(Service, 'e-client')
})

test('EtcdCluster recreates a deleted member Service', async () => {
  await using env = await startWith(1)
  const service = await env.client.delete(Service, 'e-0')
  await env.until(Service, 'e-0', ({ metadata }) => metadata.uid !== service?.metadata.uid)
})
