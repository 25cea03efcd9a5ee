// Operators of systems with members: the containers of their pods run in the world of the simulation.
import type { KubeObject } from '@kubewright/api'
import type { EtcdCluster } from '../../examples/etcd-cluster/src/etcd-cluster.ts'
import { etcdOperator } from '../../examples/etcd-cluster/src/operator.ts'
import { podSites as etcdSites, memberName } from '../../examples/etcd-cluster/src/site.ts'
import { FakeEtcd } from '../../examples/etcd-cluster/src/testdata/fake-etcd.ts'
import { sqlOperator } from '../../examples/sql-database/src/operator.ts'
import { instanceName, podSites as sqlSites } from '../../examples/sql-database/src/site.ts'
import type { SqlDatabase } from '../../examples/sql-database/src/sql-database.ts'
import { FakeDatabases } from '../../examples/sql-database/src/testdata/fake-databases.ts'
import type { FaultClass, OperatorFactory, SimulateOptions } from '../../packages/simulator/src/index.ts'

// The data of a member is lost with its pod, and so is a system that loses a majority of its pods: no operator can restore
// it. Faults that delete pods are left out.
const faults: readonly FaultClass[] = [
  'crash',
  'error',
  'watch',
  'stale',
  'slow',
  'server',
  'leader',
  'clock',
  'quota',
  'permissions',
]
const podAnnotations = { 'kubewright.dev/process': 'true' }
const isKind =
  <T extends KubeObject>(kind: string) =>
  (object: KubeObject): object is T =>
    object.kind === kind

/** An operator with the system that it manages. */
interface SimulatedSystem<World> {
  readonly make: OperatorFactory<World>
  readonly options: SimulateOptions<World>
}

export const etcdCluster: SimulatedSystem<FakeEtcd> = {
  make: ({ world: { etcd } }) =>
    etcdOperator({ etcd, sites: (cluster, ordinal) => ({ ...etcdSites(cluster, ordinal), podAnnotations }) }),
  options: {
    world: () => new FakeEtcd(),
    processes: ({ host }) => host,
    faults,
    // Names of members are not used again, so they depend on the history.
    ignore: ['Pod', 'Service', 'status.lastOrdinal', 'status.members', 'status.clusterID', 'status.conditions'],
    invariants: [
      {
        name: 'one etcd cluster per object',
        when: 'always',
        check: (_, world) => (world.hasSecondCluster() ? 'The operator started a second etcd cluster' : undefined),
      },
      {
        name: 'members',
        when: 'settled',
        check: (objects, world) => {
          for (const { metadata, spec } of objects.filter(isKind<EtcdCluster>('EtcdCluster'))) {
            const voters = world.voters(metadata.uid)
            const isOwn = voters.every((name) => name.startsWith(memberName(metadata, 0).slice(0, -1)))
            if (voters.length !== spec.size || !isOwn) {
              return `The etcd cluster of ${metadata.namespace}/${metadata.name} has the voters ${voters.join(', ') || 'none'}, expected ${spec.size}`
            }
          }
          return undefined
        },
      },
    ],
  },
}

export const sqlDatabase: SimulatedSystem<FakeDatabases> = {
  make: ({ world: { database } }) =>
    sqlOperator({ database, sites: (name, ordinal) => ({ ...siteOf(name, ordinal), podAnnotations }) }),
  options: {
    world: () => new FakeDatabases(),
    processes: ({ host }) => host,
    faults,
    ignore: ['Pod', 'Service', 'status.topology', 'status.instances', 'status.conditions'],
    invariants: [
      {
        name: 'one primary',
        when: 'settled',
        check: (objects, world) => {
          for (const { metadata, spec, status } of objects.filter(isKind<SqlDatabase>('SqlDatabase'))) {
            const { name, namespace = '' } = metadata
            const { primary, inSync = [] } = status?.topology ?? {}
            const ordinals = Array.from({ length: 100 }, (_, ordinal) => ordinal)
            const primaries = ordinals
              .filter((ordinal) => world.at(siteOf({ name, namespace }, ordinal).url)?.report().role === 'primary')
              .map((ordinal) => instanceName({ name }, ordinal))
            if (primaries.length !== 1 || primaries[0] !== primary || inSync.length !== spec.instances) {
              return `The database ${namespace}/${name} has the primaries ${primaries.join(', ') || 'none'} and the instances ${inSync.join(', ')}, expected ${spec.instances} with the primary ${primary}`
            }
          }
          return undefined
        },
      },
    ],
  },
}

function siteOf(...[database, ordinal]: Parameters<typeof sqlSites>): ReturnType<typeof sqlSites> {
  const site = sqlSites(database, ordinal)
  const { hostname, port } = new URL(site.url)
  return { ...site, command: ['log-store', `--host=${hostname}`, `--port=${port}`] }
}
