// The generated roles are enough, and none of their rules is too much: the examples run under exactly these.
import { ClusterRole, Deployment, Namespace, Pod, Role, Secret, Service, SubjectAccessReview } from '@kubewright/k8s'
import { type Controller, defineOperator, type Operator, type PolicyRule } from '@kubewright/runtime'
import { describe, expect, it } from 'vitest'
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
import type { Manifest } from '../../packages/cli/src/manifests/manifest.ts'
import { type DeployedOperator, type DeployOptions, deployOperator, scraperToken } from './deployed-operator.ts'
import type { UsedAccess } from './used-access.ts'

const isTrue =
  (wanted: string) =>
  (object: { status?: { conditions?: readonly { type: string; status: string }[] } }): boolean =>
    (object.status?.conditions ?? []).some(({ type, status }) => type === wanted && status === 'True')

const useAppService =
  (namespace: string) =>
  async ({ client, until, gone }: DeployedOperator): Promise<void> => {
    const key = { name: 'app', namespace }
    const ports = [{ port: 80, targetPort: 80 }]
    await client.create(AppService({ metadata: key, spec: { replicas: 1, image: 'nginx', ports } }))
    await until(AppService, key, isTrue('Available'))
    await until(Service, key)
    await client.patch(AppService, key, { spec: { ports: null } })
    await gone(Service, key)
    await client.delete(AppService, key)
    await gone(Deployment, key)
  }

async function useHome({ client, until, gone }: DeployedOperator): Promise<void> {
  const old = Home.versions.v1alpha1({ metadata: { name: 'cosy' }, spec: { container: 'nginx:1', size: 1 } })
  await client.create(old)
  await until(Home, 'cosy', isTrue('Ready'))
  await client.delete(Home, 'cosy')
  await gone(Home, 'cosy')
}

async function useFoo({ client, until, gone }: DeployedOperator): Promise<void> {
  await client.create(Foo({ metadata: { name: 'foo' }, spec: { deploymentName: 'one', replicas: 1 } }))
  await until(Foo, 'foo', ({ status }) => status?.availableReplicas === 1)
  await client.patch(Foo, 'foo', { spec: { deploymentName: 'two' } })
  await until(Deployment, 'two')
  await gone(Deployment, 'one')
}

const fakeEtcd = new FakeEtcd()
async function useEtcdCluster({ client, until, gone }: DeployedOperator): Promise<void> {
  await client.create(EtcdCluster({ metadata: { name: 'etcd' }, spec: { size: 2 } }))
  const has = (size: number) => (cluster: EtcdCluster) =>
    isTrue('Complete')(cluster) && cluster.status?.healthyMembers === size
  await until(EtcdCluster, 'etcd', has(2))
  await client.patch(EtcdCluster, 'etcd', { spec: { size: 1 } })
  await Promise.all([gone(Pod, 'etcd-1'), gone(Service, 'etcd-1')])
}

const fakeDatabases = new FakeDatabases()
async function useSqlDatabase({ client, until, gone }: DeployedOperator): Promise<void> {
  await client.create(SqlDatabase({ metadata: { name: 'db' }, spec: { instances: 2 } }))
  await until(SqlDatabase, 'db', isTrue('Redundant'))
  await client.patch(SqlDatabase, 'db', { spec: { instances: 1 } })
  await Promise.all([gone(Pod, 'db-1'), gone(Service, 'db-1')])
}

async function useSecSynch({ client, until, gone }: DeployedOperator): Promise<void> {
  for (const name of ['a1', 'a2']) await client.create(Namespace({ metadata: { name } }))
  await client.create(Secret({ metadata: { name: 'secret-a' }, stringData: { password: 'a' } }))
  const spec = { sourceNamespace: 'default', secretName: 'secret-a', destinationNamespaces: ['a1', 'a2'] }
  await client.create(SecSynch({ metadata: { name: 'synch' }, spec }))
  await until(SecSynch, 'synch', isTrue('Synced'))
  await client.patch(Secret, 'secret-a', { stringData: { password: 'b' } })
  const password = Buffer.from('b').toString('base64')
  await until(Secret, 'a2/secret-a', ({ data }) => data?.['password'] === password)
  await client.delete(SecSynch, 'synch')
  await Promise.all([gone(Secret, 'a1/secret-a'), gone(SecSynch, 'synch')])
}

const scenarios: [string, Operator, (deployed: DeployedOperator) => Promise<void>, DeployOptions][] = [
  ['AppService', appService, useAppService('default'), {}],
  ['AppService in one namespace', appService, useAppService('app-service-operator-system'), { namespaced: true }],
  ['Home', homeOperator(fakeDns()), useHome, {}],
  ['Foo', foo, useFoo, {}],
  ['SecSynch', secSynch, useSecSynch, {}],
  [
    'EtcdCluster',
    etcdOperator({
      etcd: fakeEtcd.etcd,
      sites: etcdSites({ folder: '/fake', firstPort: 1000 }),
    }),
    useEtcdCluster,
    { nodes: { nodes: 1, processes: fakeEtcd.host } },
  ],
  [
    'SqlDatabase',
    sqlOperator({
      database: fakeDatabases.database,
      sites: sqlSites({ folder: '/fake', firstPort: 1000 }),
    }),
    useSqlDatabase,
    { nodes: { nodes: 1, processes: fakeDatabases.host } },
  ],
]

describe.each(scenarios)('the generated roles of %s', (_, operator, use, options) => {
  it('are enough, and without any rule something that was done would be refused', async () => {
    await using deployed = await deployOperator(operator, options)
    await use(deployed)
    expect(await deployed.metrics(scraperToken)).toBe(403)
    await deployed.stop()
    expect([...deployed.refused]).toEqual([])

    expect(await needlessRules(deployed)).toEqual([])
  }, 60_000)
})

it('finds a rule that nothing needs', async () => {
  const [controller] = appService.controllers as [Controller]
  const rbac = [...controller.rbac, { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }]
  const greedy = defineOperator({ ...appService, controllers: [{ ...controller, rbac }] })
  await using deployed = await deployOperator(greedy)
  await useAppService('default')(deployed)
  await deployed.metrics(scraperToken)
  await deployed.stop()
  const rule = '{"apiGroups":[""],"resources":["configmaps"],"verbs":["delete"]}'
  expect(await needlessRules(deployed)).toEqual([
    `${rule} of app-service-operator-manager-role`,
    'delete /configmaps of app-service-operator-manager-role',
  ])
}, 60_000)

/** Rules without which nothing that the operator did would have been refused, and rights in others that it did not use. */
async function needlessRules(deployed: DeployedOperator): Promise<string[]> {
  const used = [...deployed.used.values()]
  const needless: string[] = []
  for (const role of rolesOf(deployed)) {
    const { name } = role.metadata
    for (const rule of role.rules) {
      // Checked by servers that look at who blocks the deletion of owners, which is not done by default.
      if (rule.resources?.every((resource) => resource.endsWith('/finalizers'))) continue
      const others = role.rules.filter((other) => other !== rule)
      await replaceRules(deployed, role, others)
      const concerned = used.filter((access) => isAbout(rule, access))
      if ((await firstDenied(deployed, concerned)) === undefined) needless.push(`${JSON.stringify(rule)} of ${name}`)
      await replaceRules(deployed, role, role.rules)
    }
    for (const right of role.rules.flatMap(rightsOf)) {
      if (isReserve(right) || used.some((access) => isMeant(right, access))) continue
      needless.push(`${right.verb} ${right.group}/${right.resource} of ${name}`)
    }
  }
  return needless
}

interface GrantedRole extends Manifest {
  readonly rules: readonly PolicyRule[]
}

/** The roles that the operator itself has: not those for people. */
function rolesOf({ installed }: DeployedOperator): GrantedRole[] {
  const bound = installed.flatMap(({ kind, roleRef }) =>
    kind.endsWith('RoleBinding') ? [(roleRef as { name: string }).name] : [],
  )
  return installed.filter(({ kind, metadata }) => /Role$/.test(kind) && bound.includes(metadata.name)) as GrantedRole[]
}

async function replaceRules(
  { client }: DeployedOperator,
  { kind, metadata }: GrantedRole,
  rules: readonly PolicyRule[],
): Promise<void> {
  const { name, namespace } = metadata
  const draft = JSON.parse(JSON.stringify({ metadata: { name, namespace }, rules })) as Parameters<typeof Role>[0]
  await client.apply(kind === 'Role' ? Role(draft) : ClusterRole(draft), { force: true })
}

async function firstDenied(
  { client, account }: DeployedOperator,
  accesses: readonly UsedAccess[],
): Promise<string | undefined> {
  for (const { id, verb, group, resource, subresource, namespace, name } of accesses) {
    const { status } = await client.create(
      SubjectAccessReview({
        spec: {
          user: account.name,
          groups: [...account.groups],
          resourceAttributes: { verb, group, resource, subresource, namespace, name },
        },
      }),
    )
    if (status?.allowed !== true) return id
  }
  return undefined
}

interface Right {
  readonly group: string
  readonly resource: string
  readonly verb: string
}

function rightsOf({ apiGroups = [], resources = [], verbs }: PolicyRule): Right[] {
  return apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))))
}

function isMeant(right: Right, { verb, group, resource, subresource }: UsedAccess): boolean {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  return right.group === group && right.resource === whole && right.verb === verb
}

const isAbout = (rule: PolicyRule, access: UsedAccess): boolean =>
  rightsOf(rule).some((right) => isMeant(right, access))

/** Rights that these scenarios do not use. */
function isReserve({ verb, resource }: Right): boolean {
  // For servers that cannot stream lists, and for reads that pass by the cache.
  if (verb === 'list' || verb === 'get') return true
  // For Events that repeat themselves, and for the check of owners.
  if (resource === 'events' || resource.endsWith('/finalizers')) return true
  // For the day when a certificate is renewed.
  if (verb === 'update' && resource === 'secrets') return true
  // Where children are pruned, all kinds of them may be.
  return verb === 'delete' && resource === 'deployments'
}
