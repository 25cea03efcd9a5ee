// The operators of the examples and the built-in controllers, with their samples.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubeObject, parseManifests } from '@kubewright/api'
import {
  cronJobController,
  deploymentController,
  endpointsController,
  garbageCollector,
  jobController,
  namespaceController,
  replicaSetController,
  statefulSetController,
} from '@kubewright/controllers'
import { ConfigMap, CronJob, Deployment, Job, Namespace, ReplicaSet, Service, StatefulSet } from '@kubewright/k8s'
import { defineOperator, type KeyController, type Operator } from '@kubewright/runtime'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as cronJob } from '../../examples/cron-job/src/operator.ts'
import { operator as fleet } from '../../examples/fleet/src/operator.ts'
import { operator as foo } from '../../examples/foo/src/operator.ts'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as memcached } from '../../examples/memcached/src/operator.ts'
import { operator as secSynch } from '../../examples/sec-synch/src/operator.ts'
import { operator as shop } from '../../examples/shop/src/operator.ts'
import {
  explore,
  type OperatorFactory,
  type SimulateOptions,
  type SimulationReport,
} from '../../packages/simulator/src/index.ts'
import { etcdCluster, sqlDatabase } from './simulated-systems.ts'

/** Options of a simulation that do not depend on its operator. */
export type Limits = Omit<SimulateOptions, 'world' | 'invariants' | 'processes' | 'samples'>

/** Simulates one operator. */
export type SimulateOperator = (limits: Limits) => Promise<SimulationReport>

/** The simulation of an operator with its options. */
export function simulated<World>(make: OperatorFactory<World>, options: SimulateOptions<World>): SimulateOperator {
  return (limits) => explore(make, { ...options, ...limits })
}

function example<World>(
  name: string,
  make: Operator | OperatorFactory<World>,
  options: SimulateOptions<World> = {},
): SimulateOperator {
  const folder = join(import.meta.dirname, '../../examples', name, 'samples')
  const samples = readdirSync(folder).flatMap(
    (file) => parseManifests(readFileSync(join(folder, file), 'utf8')) as object[],
  )
  return simulated(typeof make === 'function' ? make : () => make, { samples, ...options })
}

/** The operators of the examples by folder. */
export const examples: Readonly<Record<string, SimulateOperator>> = {
  'app-service': example('app-service', appService),
  // A failed Job stays in the history, and the conditions count it.
  'cron-job': example('cron-job', cronJob, { ignore: ['status.conditions'] }),
  'etcd-cluster': example('etcd-cluster', etcdCluster.make, etcdCluster.options),
  fleet: example('fleet', fleet),
  foo: example('foo', foo),
  home: example('home', ({ world }) => homeOperator(world), { world: fakeDns }),
  memcached: example('memcached', memcached),
  'sec-synch': example('sec-synch', secSynch),
  shop: example('shop', shop),
  'sql-database': example('sql-database', sqlDatabase.make, sqlDatabase.options),
}

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]

function builtin(
  controller: KeyController,
  samples: readonly unknown[],
  options: SimulateOptions = {},
): SimulateOperator {
  const operator = defineOperator({
    name: controller.name,
    controllers: [Object.freeze({ ...controller, rbac: everything })],
  })
  return simulated(() => operator, { samples: samples as KubeObject[], ...options })
}

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
const jobTemplate = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'job', image: 'job:1' }] } }

// An empty selector is stored as none.
const hasSelector = ({ spec }: Service): boolean =>
  Object.keys(spec?.selector ?? {}).length > 0 && spec?.type !== 'ExternalName'

/** The built-in controllers by name. Each runs as the operator, and not in the control plane. */
export const builtins: Readonly<Record<string, SimulateOperator>> = {
  deployment: builtin(
    deploymentController,
    [Deployment({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } })],
    // As in pkg/controller/deployment: a message may name an earlier ReplicaSet, because it changes together with its reason only, and the
    // ReplicaSet of a former Deployment with the same name counts as a collision.
    { ignore: ['ReplicaSet', 'status.collisionCount', 'status.conditions.message'] },
  ),
  'replica-set': builtin(replicaSetController, [
    ReplicaSet({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } }),
  ]),
  'stateful-set': builtin(
    statefulSetController,
    [
      StatefulSet({
        metadata: { name: 'web' },
        spec: { replicas: 2, serviceName: 'web', selector: { matchLabels: labels }, template },
      }),
    ],
    { ignore: ['ControllerRevision'] },
  ),
  job: builtin(
    jobController,
    [Job({ metadata: { name: 'once' }, spec: { completions: 2, template: jobTemplate } })],
    // A pod that a user deletes counts as failed. After a restart with an old view of the pods, the controller creates more
    // pods than needed, and all that succeed are counted. Whether a pod ends before a deadline depends on the time.
    {
      ignore: ['status.failed', 'status.succeeded'],
      isHeld: (job) => {
        const { suspend, activeDeadlineSeconds } = (job as Job).spec ?? {}
        return suspend === true || activeDeadlineSeconds !== undefined
      },
    },
  ),
  'cron-job': builtin(cronJobController, [
    CronJob({
      metadata: { name: 'often' },
      spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
    }),
  ]),
  'garbage-collector': builtin(
    { ...garbageCollector(), kind: Deployment },
    [Deployment({ metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: labels }, template } })],
    // Written by another controller. A Deployment that is created again while its former ReplicaSet exists counts a collision.
    // Found with seed 51, schedule 120.
    { ignore: ['status'] },
  ),
  namespace: builtin(namespaceController, [
    Namespace({ metadata: { name: 'space' } }),
    ConfigMap({ metadata: { name: 'input', namespace: 'default' }, data: { a: 'b' } }),
  ]),
  endpoints: builtin(
    endpointsController,
    [
      Deployment({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } }),
      Service({ metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } }),
    ],
    // As in pkg/controller/endpoint: the Endpoints of a service whose selector is removed stay, because users manage them from
    // then on. Found with seed 22, schedule 66.
    { isHeld: (service) => !hasSelector(service as Service) },
  ),
}
