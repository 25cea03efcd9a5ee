// The operator dies at any of its calls, to the cluster or to etcd, and another takes over.
import { Pod, Service } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import type { Fate, Life } from '../../../test/crash/life.ts'
import { isWrite, lifeCall, live } from '../../../test/crash/lives.ts'
import type { Etcd } from './etcd.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { etcdOperator } from './operator.ts'
import { localSites } from './site.ts'
import { FakeEtcd } from './testdata/fake-etcd.ts'

const sites = localSites({ folder: '/fake', firstPort: 1000 })

/** etcd as somebody sees it who may die at any moment. */
function mortalEtcd(etcd: Etcd, life: Life): Etcd {
  return {
    health: (url, call) => lifeCall(life, 'etcd health', call.signal, () => etcd.health(url, call)),
    members: (url, call) => lifeCall(life, 'etcd members', call.signal, () => etcd.members(url, call)),
    addLearner: (url, peerUrl, call) =>
      lifeCall(life, 'etcd! add', call.signal, () => etcd.addLearner(url, peerUrl, call)),
    promote: (url, id, call) => lifeCall(life, 'etcd! promote', call.signal, () => etcd.promote(url, id, call)),
    remove: (url, id, call) => lifeCall(life, 'etcd! remove', call.signal, () => etcd.remove(url, id, call)),
  }
}

const changes = (label: string): boolean => isWrite(label) || label.startsWith('etcd!')

async function play(fateOf: (life: number) => Fate | undefined) {
  const fake = new FakeEtcd()
  const nodes = { nodes: 1, processes: fake.host }
  // Nothing but the nodes: it is played a hundred times.
  const options = {
    time: 'virtual',
    nodes,
    install: [EtcdCluster],
    controllers: ['serviceaccount-controller'],
  } as const
  await using env = await startTestEnv(undefined, options)
  const operator = (life: Life) => etcdOperator({ etcd: mortalEtcd(fake.etcd, life), sites })
  const { calls } = await live(env, operator, fateOf, async () => {
    await env.client.create(EtcdCluster({ metadata: { name: 'e' }, spec: { size: 1 } }))
    await complete(env, 1)
    await fake.put('k', 'v')
    await resize(env, 3)
    await complete(env, 3)
    // A member is lost with its data.
    await env.client.delete(Pod, 'e-0')
    await env.until(EtcdCluster, 'e', ({ status }) => (status?.lastOrdinal ?? 0) > 2)
    await complete(env, 3)
    await resize(env, 2)
    await complete(env, 2)
  })
  const end = {
    voters: fake.voters().length,
    pods: (await env.client.list(Pod)).length,
    names: (await env.client.list(Service, { labels: { 'etcd.example.com/cluster': 'e' } })).length,
    isSame: String(fake.voters().sort()) === String((await env.client.list(Pod)).map(({ metadata }) => metadata.name)),
    rows: Object.fromEntries(fake.clusters[0]?.rows ?? []),
    // As it is now: with the environment its members end, too.
    violations: [...fake.violations],
  }
  return { end, calls }
}

const complete = (env: TestEnv, size: number) =>
  env.until(
    EtcdCluster,
    'e',
    (e) => isTrue('Complete')(e) && e.status?.size === size && e.metadata.generation === generationOf(e),
  )
const generationOf = (e: EtcdCluster) =>
  e.status?.conditions.find(({ type }) => type === 'Complete')?.observedGeneration
const resize = (env: TestEnv, size: number) => env.client.patch(EtcdCluster, 'e', { spec: { size } })

const wellEnded = { voters: 2, pods: 2, names: 3, isSame: true, rows: { k: 'v' }, violations: [] }

/** Of reads in a row the first will do: whoever dies at a later one has seen more, but changed nothing. */
function worthDying(): (label: string) => boolean {
  let isFirst = true
  return (label) => {
    const isChange = changes(label)
    const isWorth = isChange || isFirst
    isFirst = isChange
    return isWorth
  }
}

test.each([
  ['is lost', worthDying],
  ['takes effect', () => changes],
] as const)(
  'the operator of EtcdCluster may die at any call, which %s',
  { timeout: 900_000 },
  async (call, fateful) => {
    const { calls, end } = await play(() => undefined)
    expect(end).toEqual(wellEnded)
    const all = calls[0]?.filter(fateful()) ?? []
    expect(all.length).toBeGreaterThan(30)
    for (let at = 1; at <= all.length; at++) {
      const isFateful = fateful()
      const run = await play((life) => (life === 0 ? { at, call, isFateful } : undefined))
      const when = `it died at call ${at}, ${all[at - 1]}, which ${call}`
      expect(run.end, when).toEqual(wellEnded)
      expect(run.calls, when).toHaveLength(2)
    }
  },
)

test('the operator of EtcdCluster may die after each change that it makes', { timeout: 60_000 }, async () => {
  const { calls, end } = await play(() => ({ at: 1, call: 'takes effect', isFateful: changes }))
  expect(end).toEqual(wellEnded)
  expect(calls.length).toBeGreaterThan(30)
})
