// The operator dies at any of its calls, to the cluster or to etcd, and another takes over.
import { Pod, Service } from 'kubewright/k8s'
import { isTrue, type TestEnv } from 'kubewright/testing'
import { diesAnywhere, startBareEnv } from '../../../test/crash/dies-anywhere.ts'
import type { Fate, Life } from '../../../test/crash/life.ts'
import { lifeCall, live } from '../../../test/crash/lives.ts'
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

async function play(fateOf: (life: number) => Fate | undefined) {
  const fake = new FakeEtcd()
  await using env = await startBareEnv(EtcdCluster, fake.host)
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

diesAnywhere('EtcdCluster', 'etcd', wellEnded, play)
