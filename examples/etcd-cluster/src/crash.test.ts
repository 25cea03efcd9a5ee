// The operator crashes at each of its calls, to the cluster or to etcd, and another instance takes over.
import { Pod, Service } from 'kubewright/k8s'
import { isTrue, type TestEnv } from 'kubewright/testing'
import type { CrashingProcess, CrashPlan } from '../../../test/crash/crashing-process.ts'
import { externalCall, runWithCrashes } from '../../../test/crash/run-with-crashes.ts'
import { startBareEnv, testCrashAtEveryCall } from '../../../test/crash/test-crash-at-every-call.ts'
import type { Etcd } from './etcd.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { etcdOperator } from './operator.ts'
import { localSites } from './site.ts'
import { FakeEtcd } from './testdata/fake-etcd.ts'

const sites = localSites({ folder: '/fake', firstPort: 1000 })

/** The etcd calls of an operator that may crash at any call. */
function crashingEtcd(etcd: Etcd, process: CrashingProcess): Etcd {
  return {
    health: (url, call) => externalCall(process, 'etcd health', call.signal, () => etcd.health(url, call)),
    members: (url, call) => externalCall(process, 'etcd members', call.signal, () => etcd.members(url, call)),
    addLearner: (url, peerUrl, call) =>
      externalCall(process, 'etcd! add', call.signal, () => etcd.addLearner(url, peerUrl, call)),
    promote: (url, id, call) => externalCall(process, 'etcd! promote', call.signal, () => etcd.promote(url, id, call)),
    remove: (url, id, call) => externalCall(process, 'etcd! remove', call.signal, () => etcd.remove(url, id, call)),
  }
}

async function runScenario(planOf: (index: number) => CrashPlan | undefined) {
  const fake = new FakeEtcd()
  await using env = await startBareEnv(EtcdCluster, fake.host)
  const operator = (process: CrashingProcess) => etcdOperator({ etcd: crashingEtcd(fake.etcd, process), sites })
  const { calls } = await runWithCrashes(env, operator, planOf, async () => {
    await env.client.create(EtcdCluster({ metadata: { name: 'e' }, spec: { size: 1 } }))
    await complete(env, 1)
    await fake.put('k', 'v')
    await resize(env, 3)
    await complete(env, 3)
    // A member and its data are lost.
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
    // A copy, because the members end together with the environment.
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

const expectedEnd = { voters: 2, pods: 2, names: 3, isSame: true, rows: { k: 'v' }, violations: [] }

testCrashAtEveryCall('EtcdCluster', 'etcd', expectedEnd, runScenario)
