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
import type { SimulateOptions } from '../../packages/simulator/src/index.ts'

type Dns = ReturnType<typeof fakeDns>

/** An operator to simulate. */
export interface SimulatedOperator {
  readonly make: (parts: { readonly world: Dns }) => Operator
  readonly options: SimulateOptions<Dns>
}

function example(name: string, make: SimulatedOperator['make'], options: SimulateOptions<Dns> = {}): SimulatedOperator {
  const folder = join(import.meta.dirname, '../../examples', name, 'samples')
  const samples = readdirSync(folder).flatMap(
    (file) => parseManifests(readFileSync(join(folder, file), 'utf8')) as object[],
  )
  return { make, options: { samples, world: fakeDns, ...options } }
}

/** The operators of the examples by folder. */
export const examples: Readonly<Record<string, SimulatedOperator>> = {
  'app-service': example('app-service', () => appService),
  'cron-job': example('cron-job', () => cronJob),
  fleet: example('fleet', () => fleet),
  foo: example('foo', () => foo),
  home: example('home', ({ world }) => homeOperator(world)),
  memcached: example('memcached', () => memcached),
  'sec-synch': example('sec-synch', () => secSynch),
  shop: example('shop', () => shop),
}

const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]

function builtin(
  controller: KeyController,
  samples: readonly unknown[],
  options: SimulateOptions<Dns> = {},
): SimulatedOperator {
  const operator = defineOperator({
    name: controller.name,
    controllers: [Object.freeze({ ...controller, rbac: everything })],
  })
  return { make: () => operator, options: { samples: samples as KubeObject[], world: fakeDns, ...options } }
}

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
const jobTemplate = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'job', image: 'job:1' }] } }

// An empty selector is stored as none.
const hasSelector = ({ spec }: Service): boolean =>
  Object.keys(spec?.selector ?? {}).length > 0 && spec?.type !== 'ExternalName'

/** The built-in controllers by name. Each runs as the operator, and not in the control plane. */
export const builtins: Readonly<Record<string, SimulatedOperator>> = {
  deployment: builtin(
    deploymentController,
    [Deployment({ metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } })],
    { ignore: ['ReplicaSet'] },
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
    // pods than needed, and all that succeed are counted.
    { ignore: ['status.failed', 'status.succeeded'] },
  ),
  'cron-job': builtin(cronJobController, [
    CronJob({
      metadata: { name: 'often' },
      spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } },
    }),
  ]),
  'garbage-collector': builtin({ ...garbageCollector(), kind: Deployment }, [
    Deployment({ metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: labels }, template } }),
  ]),
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
