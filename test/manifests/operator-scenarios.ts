// Each scenario exercises all permissions of an operator.
import { controllerRef, type KubeObject } from '@kubewright/api'
import type { NodesOptions } from '@kubewright/controlplane'
import { Deployment, Lease, MutatingWebhookConfiguration, Namespace, Pod, Secret, Service } from '@kubewright/k8s'
import { type Controller, defineOperator, type Operator } from '@kubewright/runtime'
import { appServiceController } from '../../examples/app-service/src/app-service.controller.ts'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { EtcdCluster } from '../../examples/etcd-cluster/src/etcd-cluster.ts'
import { etcdOperator } from '../../examples/etcd-cluster/src/operator.ts'
import { localSites as etcdSites } from '../../examples/etcd-cluster/src/site.ts'
import { FakeEtcd } from '../../examples/etcd-cluster/src/testdata/fake-etcd.ts'
import { Foo } from '../../examples/foo/src/foo.ts'
import { operator as foo } from '../../examples/foo/src/operator.ts'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { Home } from '../../examples/home/src/home.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'
import { SecSynch } from '../../examples/sec-synch/src/sec-synch.ts'
import { sqlOperator } from '../../examples/sql-database/src/operator.ts'
import { localSites as sqlSites } from '../../examples/sql-database/src/site.ts'
import { SqlDatabase } from '../../examples/sql-database/src/sql-database.ts'
import { FakeDatabases } from '../../examples/sql-database/src/testdata/fake-databases.ts'
import { blockedName, type DeployedOperator, type InstallOptions } from './deployed-operator.ts'

/** An operator and the steps that exercise it. */
export interface OperatorScenario {
  readonly name: string
  /** Creates the operator of a run, with its cluster options. */
  readonly make: () => { readonly operator: Operator; readonly nodes?: NodesOptions | undefined }
  readonly options?: InstallOptions
  /** The suffix of the roles to test. Other roles are tested by another scenario of the operator. @default all roles */
  readonly differsIn?: string
  /** Resolves when all steps are done. */
  readonly use: (deployed: DeployedOperator) => Promise<void>
}

/**
 * The operator with a reconciler that also reads without the cache and records Events. The generated roles allow every reconciler to do
 * that, although not all do.
 */
function curious(operator: Operator): Operator {
  const [controller] = operator.controllers as readonly [Controller]
  const { owns, watches } = controller
  const reconcile: Controller['reconcile'] = async (object, context) => {
    const { client, event, signal } = context
    for (const { kind } of [...owns, ...watches]) {
      const key = kind.scope === 'Cluster' ? 'any' : 'default/any'
      await client.find(kind, key, { consistency: 'live', signal })
    }
    event('Normal', 'Looked', 'Looked at everything')
    return controller.reconcile(object, context)
  }
  return defineOperator({ ...operator, controllers: [{ ...controller, reconcile }] })
}

const isTrue =
  (wanted: string) =>
  (object: { status?: { conditions?: readonly { type: string; status: string }[] } }): boolean =>
    (object.status?.conditions ?? []).some(({ type, status }) => type === wanted && status === 'True')

const labels = { app: 'foreign' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }

/** Lets another owner control the child of an object until the operator has reported the conflict twice, then deletes the object. */
async function standInTheWay(
  { client, gone, repeated }: DeployedOperator,
  foreign: ReturnType<typeof Deployment> | ReturnType<typeof Service>,
  kind: Taken,
  object: Parameters<DeployedOperator['client']['create']>[0],
): Promise<void> {
  await client.create(foreign)
  for (let tries = 1; ; tries++) {
    const { metadata } = (await client.create(object)) as unknown as KubeObject
    const { name, namespace = '', uid } = metadata
    const isWrittenAgain = await repeated('ErrResourceExists', namespace, uid)
    await client.delete(kind, { name, namespace })
    if (isWrittenAgain || tries === 20) return
    await gone(kind, { name, namespace })
  }
}

type Taken = typeof AppService | typeof Home | typeof Foo | typeof EtcdCluster | typeof SqlDatabase

const taken = { name: blockedName, namespace: 'default' }
const foreignDeployment = (namespace = 'default') =>
  Deployment({
    metadata: { name: blockedName, namespace },
    spec: { replicas: 0, selector: { matchLabels: labels }, template },
  })
const foreignService = (name: string) =>
  Service({ metadata: { name, namespace: 'default' }, spec: { ports: [{ port: 1 }] } })

const useAppService =
  (namespace: string) =>
  async (deployed: DeployedOperator): Promise<void> => {
    const { client, until, gone } = deployed
    const key = { name: 'app', namespace }
    const ports = [{ port: 80, targetPort: 80 }]
    const blocked = AppService({ metadata: { name: blockedName, namespace }, spec: { replicas: 1, image: 'nginx' } })
    await standInTheWay(deployed, foreignDeployment(namespace), AppService, blocked)
    // The state that an earlier version with a clean-up leaves.
    const { finalizer } = appServiceController
    const metadata = { ...key, finalizers: [finalizer] }
    const app = await client.create(AppService({ metadata, spec: { replicas: 1, image: 'nginx', ports } }))
    await until(AppService, key, isTrue('Available'))
    await until(Service, key)
    // The name that an earlier version used.
    const old = { name: 'app-old', namespace, ownerReferences: [controllerRef(app)] }
    const fieldManager = `${appService.name}/${appServiceController.name}`
    const spec = { replicas: 0, selector: { matchLabels: labels }, template }
    await client.apply(Deployment({ metadata: old, spec }), { fieldManager })
    await client.patch(AppService, key, { spec: { ports: null } })
    await Promise.all([gone(Service, key), gone(Deployment, { name: old.name, namespace })])
    await client.delete(AppService, key)
    await Promise.all([gone(AppService, key), gone(Deployment, key)])
  }

const day = 24 * 60 * 60 * 1000

async function useHome(deployed: DeployedOperator): Promise<void> {
  const { client, until, gone, skip } = deployed
  const key = { name: 'cosy', namespace: 'default' }
  const blocked = Home({ metadata: taken, spec: { image: 'nginx:1' } })
  await standInTheWay(deployed, foreignDeployment(), Home, blocked)
  const old = Home.versions.v1alpha1({ metadata: key, spec: { container: 'nginx:1', size: 1 } })
  await client.create(old)
  await until(Home, key, isTrue('Ready'))
  await client.delete(Home, key)
  await gone(Home, key)

  const certificates = { name: 'home-operator-webhook-cert', namespace: 'home-operator-system' }
  const shown = (await client.get(Secret, certificates)).data?.['tls.crt']
  skip(80 * day)
  // Any change triggers a check of the certificates.
  const [configuration] = await client.list(MutatingWebhookConfiguration)
  await client.patch(MutatingWebhookConfiguration, configuration!.metadata, { metadata: { labels: { seen: 'yes' } } })
  await until(Secret, certificates, ({ data }) => data?.['tls.crt'] !== shown)
}

async function useFoo(deployed: DeployedOperator): Promise<void> {
  const { client, until, gone } = deployed
  const blocked = Foo({ metadata: taken, spec: { deploymentName: blockedName, replicas: 1 } })
  await standInTheWay(deployed, foreignDeployment(), Foo, blocked)
  await client.create(Foo({ metadata: { name: 'foo' }, spec: { deploymentName: 'one', replicas: 1 } }))
  await until(Foo, 'foo', ({ status }) => status?.availableReplicas === 1)
  await client.patch(Foo, 'foo', { spec: { deploymentName: 'two' } })
  await until(Deployment, 'two')
  await gone(Deployment, 'one')
  await letGo(deployed, Foo, 'foo', foo)
}

/** Deletes an object with the finalizer of an earlier version of its controller. */
async function letGo(
  { client, gone }: DeployedOperator,
  kind: typeof Foo | typeof EtcdCluster | typeof SqlDatabase,
  name: string,
  { controllers }: Operator,
): Promise<void> {
  const { finalizer } = controllers[0] as Controller
  await client.patch(kind, name, { metadata: { finalizers: [finalizer] } })
  await client.delete(kind, name)
  await gone(kind, name)
}

function etcd(): ReturnType<OperatorScenario['make']> {
  const fake = new FakeEtcd()
  const operator = etcdOperator({ etcd: fake.etcd, sites: etcdSites({ folder: '/fake', firstPort: 1000 }) })
  return { operator: curious(operator), nodes: { nodes: 1, processes: fake.host } }
}

async function useEtcdCluster(deployed: DeployedOperator): Promise<void> {
  const { client, until, gone } = deployed
  const blocked = EtcdCluster({ metadata: taken, spec: { size: 1 } })
  await standInTheWay(deployed, foreignService(`${blockedName}-client`), EtcdCluster, blocked)
  await client.create(EtcdCluster({ metadata: { name: 'etcd' }, spec: { size: 2 } }))
  const has = (size: number) => (cluster: EtcdCluster) =>
    isTrue('Complete')(cluster) && cluster.status?.healthyMembers === size
  await until(EtcdCluster, 'etcd', has(2))
  await client.patch(EtcdCluster, 'etcd', { spec: { size: 1 } })
  await Promise.all([gone(Pod, 'etcd-1'), gone(Service, 'etcd-1')])
  await letGo(deployed, EtcdCluster, 'etcd', etcd().operator)
}

function sql(): ReturnType<OperatorScenario['make']> {
  const fake = new FakeDatabases()
  const operator = sqlOperator({ database: fake.database, sites: sqlSites({ folder: '/fake', firstPort: 1000 }) })
  return { operator: curious(operator), nodes: { nodes: 1, processes: fake.host } }
}

async function useSqlDatabase(deployed: DeployedOperator): Promise<void> {
  const { client, until, gone } = deployed
  const blocked = SqlDatabase({ metadata: taken, spec: { instances: 1 } })
  await standInTheWay(deployed, foreignService(`${blockedName}-0`), SqlDatabase, blocked)
  await client.create(SqlDatabase({ metadata: { name: 'db' }, spec: { instances: 2 } }))
  await until(SqlDatabase, 'db', isTrue('Redundant'))
  await client.patch(SqlDatabase, 'db', { spec: { instances: 1 } })
  await Promise.all([gone(Pod, 'db-1'), gone(Service, 'db-1')])
  await letGo(deployed, SqlDatabase, 'db', sql().operator)
}

async function useSecSynch(deployed: DeployedOperator): Promise<void> {
  const { client, until, gone, repeated } = deployed
  for (const name of ['a1', 'a2']) await client.create(Namespace({ metadata: { name } }))
  await client.create(Secret({ metadata: { name: 'secret-a' }, stringData: { password: 'a' } }))
  const spec = { sourceNamespace: 'default', secretName: 'secret-a', destinationNamespaces: ['a1', 'a2'] }
  await client.create(SecSynch({ metadata: { name: 'synch' }, spec }))
  await until(SecSynch, 'synch', isTrue('Synced'))
  await client.patch(Secret, 'secret-a', { stringData: { password: 'b' } })
  const password = Buffer.from('b').toString('base64')
  await until(Secret, 'a2/secret-a', ({ data }) => data?.['password'] === password)
  await repeated('Looked', 'default')
  await client.delete(SecSynch, 'synch')
  await Promise.all([gone(Secret, 'a1/secret-a'), gone(SecSynch, 'synch')])
}

/** Waits until the membership Lease of sharding is renewed. */
async function useShare(deployed: DeployedOperator): Promise<void> {
  await useSecSynch(deployed)
  const [lease] = await deployed.client.list(Lease, { namespace: `${secSynch.name}-system` })
  await deployed.until(Lease, lease!.metadata, ({ spec }) => spec?.renewTime !== spec?.acquireTime)
}

/** All example operators, with their kinds of installation. */
export const scenarios: readonly OperatorScenario[] = [
  { name: 'AppService', make: () => ({ operator: appService }), use: useAppService('default') },
  {
    name: 'AppService in its own namespace',
    make: () => ({ operator: appService }),
    options: { namespaced: true },
    use: useAppService('app-service-operator-system'),
  },
  {
    name: 'AppService in another namespace, with its Lease in a third',
    make: () => ({
      operator: defineOperator({ ...appService, namespaces: ['north'], leaderElection: { namespace: 'leases' } }),
    }),
    use: useAppService('north'),
  },
  { name: 'Home', make: () => ({ operator: homeOperator(fakeDns()) }), use: useHome },
  { name: 'Foo', make: () => ({ operator: curious(foo) }), use: useFoo },
  { name: 'SecSynch', make: () => ({ operator: curious(secSynch) }), use: useSecSynch },
  {
    name: 'SecSynch whose replicas share the work',
    make: () => ({ operator: defineOperator({ ...curious(secSynch), leaderElection: false, sharding: true }) }),
    differsIn: '-leader-election-role',
    use: useShare,
  },
  { name: 'EtcdCluster', make: etcd, use: useEtcdCluster },
  { name: 'SqlDatabase', make: sql, use: useSqlDatabase },
]
