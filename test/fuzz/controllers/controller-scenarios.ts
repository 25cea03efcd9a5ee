import type { Random } from '@kubewright/base'

/** A step of a scenario. After each step, the test waits until both control planes are idle, and compares all objects. */
export type Step =
  | { readonly do: 'create'; readonly path: string; readonly body: object }
  | { readonly do: 'patch'; readonly path: string; readonly body: object }
  | { readonly do: 'delete'; readonly path: string; readonly policy: 'Background' | 'Foreground' | 'Orphan' }
  /** Binds the pods with a label to a node and sets their phase, as a scheduler and a kubelet would. Removes terminating pods. */
  | { readonly do: 'pods'; readonly app: string; readonly phase: 'Running' | 'Failed' | 'Succeeded' }

/** A scenario of one namespace. */
export interface ControllerScenario {
  readonly kind: string
  readonly steps: readonly Step[]
}

const apps = 'apis/apps/v1'
const batch = 'apis/batch/v1'

const template = (app: string, image: string, more: object = {}) => ({
  metadata: { labels: { app } },
  spec: {
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'c', image, ports: [{ containerPort: 80, name: 'http' }] }],
    ...more,
  },
})
const selected = (app: string, image = 'a', more: object = {}) => ({
  selector: { matchLabels: { app } },
  template: template(app, image, more),
})
const create = (path: string, name: string, spec: object, more: object = {}): Step => ({
  do: 'create',
  path,
  body: { metadata: { name }, spec, ...more },
})
const patch = (path: string, body: object): Step => ({ do: 'patch', path, body })
const pods = (app: string, phase: 'Running' | 'Failed' | 'Succeeded'): Step => ({ do: 'pods', app, phase })

/** The generators by kind. They draw from the stream only. */
export const controllerScenarios: Readonly<Record<string, (random: Random) => readonly Step[]>> = {
  deployment: (random) => {
    const strategy = random.pick([
      {},
      { strategy: { type: 'Recreate' } },
      { strategy: { rollingUpdate: { maxSurge: random.int(3), maxUnavailable: 1 } } },
      { minReadySeconds: 1 },
      { revisionHistoryLimit: 0 },
    ])
    const path = `${apps}/deployments`
    const steps = [
      create(path, 'web', { replicas: random.int(5), ...selected('web'), ...strategy }),
      pods('web', 'Running'),
    ]
    const more: Step[] = [
      patch(`${path}/web`, { spec: { replicas: random.int(6) } }),
      patch(`${path}/web`, { spec: { template: template('web', 'b') } }),
      patch(`${path}/web`, { spec: { template: template('web', 'a') } }),
      patch(`${path}/web`, { spec: { paused: true } }),
      patch(`${path}/web`, { spec: { paused: false } }),
      patch(`${path}/web`, { metadata: { annotations: { note: 'x' } } }),
      pods('web', 'Running'),
      pods('web', 'Failed'),
      { do: 'delete', path: `${path}/web`, policy: random.pick(['Background', 'Foreground', 'Orphan']) },
    ]
    return [...steps, ...some(random, more, 4), pods('web', 'Running')]
  },
  replicaset: (random) => {
    const [path, spec] = random.pick([
      [`${apps}/replicasets`, selected('rs')],
      ['api/v1/replicationcontrollers', { selector: { app: 'rs' }, template: template('rs', 'a') }],
    ] as const)
    return [
      create(path, 'rs', { replicas: random.int(5), ...spec }),
      pods('rs', 'Running'),
      ...some(
        random,
        [
          patch(`${path}/rs`, { spec: { replicas: random.int(6) } }),
          patch(`${path}/rs`, { spec: { minReadySeconds: 1 } }),
          pods('rs', 'Failed'),
          pods('rs', 'Running'),
          { do: 'delete', path: `${path}/rs`, policy: random.pick(['Background', 'Foreground', 'Orphan']) },
          // Exceeds the quota.
          create('api/v1/resourcequotas', 'few', { hard: { pods: '2' } }),
        ],
        3,
      ),
    ]
  },
  statefulset: (random) => {
    const path = `${apps}/statefulsets`
    const spec = {
      replicas: random.int(4),
      serviceName: 'db',
      ...selected('db'),
      ...random.pick([
        {},
        { podManagementPolicy: 'Parallel' },
        { updateStrategy: { type: 'OnDelete' } },
        { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
        {
          volumeClaimTemplates: [
            {
              metadata: { name: 'data' },
              spec: {
                accessModes: ['ReadWriteOnce'],
                storageClassName: 'none',
                resources: { requests: { storage: '1Gi' } },
              },
            },
          ],
          persistentVolumeClaimRetentionPolicy: {
            whenDeleted: 'Delete',
            whenScaled: random.pick(['Retain', 'Delete']),
          },
        },
        { ordinals: { start: 2 } },
      ]),
    }
    return [
      create(path, 'db', spec),
      pods('db', 'Running'),
      pods('db', 'Running'),
      ...some(
        random,
        [
          patch(`${path}/db`, { spec: { replicas: random.int(5) } }),
          patch(`${path}/db`, { spec: { template: template('db', 'b') } }),
          pods('db', 'Failed'),
          pods('db', 'Running'),
          { do: 'delete', path: `${path}/db`, policy: random.pick(['Background', 'Foreground', 'Orphan']) },
        ],
        4,
      ),
      pods('db', 'Running'),
    ]
  },
  daemonset: (random) => {
    const path = `${apps}/daemonsets`
    return [
      create(path, 'agent', {
        ...selected('agent', 'a', random.pick([{}, { nodeSelector: { 'kubernetes.io/hostname': 'n1' } }])),
      }),
      pods('agent', 'Running'),
      ...some(
        random,
        [
          patch(`${path}/agent`, { spec: { template: template('agent', 'b') } }),
          patch(`${path}/agent`, { spec: { updateStrategy: { type: 'OnDelete' } } }),
          pods('agent', 'Failed'),
          pods('agent', 'Running'),
          pods('agent', 'Running'),
          { do: 'delete', path: `${path}/agent`, policy: random.pick(['Background', 'Foreground', 'Orphan']) },
        ],
        4,
      ),
    ]
  },
  job: (random) => {
    const path = `${batch}/jobs`
    const spec = {
      template: template('job', 'a', { restartPolicy: random.pick(['Never', 'OnFailure']) }),
      parallelism: random.int(4),
      ...random.pick([
        {},
        { completions: 1 + random.int(4) },
        { completions: 1 + random.int(3), completionMode: 'Indexed' },
        { completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 0 },
        { suspend: true },
        { activeDeadlineSeconds: 3 },
        { ttlSecondsAfterFinished: 1 },
      ]),
      backoffLimit: random.int(3),
    }
    return [
      create(path, 'job', spec),
      pods('job', 'Running'),
      ...some(
        random,
        [
          pods('job', 'Succeeded'),
          pods('job', 'Failed'),
          patch(`${path}/job`, { spec: { suspend: true } }),
          patch(`${path}/job`, { spec: { suspend: false } }),
          patch(`${path}/job`, { spec: { parallelism: random.int(4) } }),
          { do: 'delete', path: `${path}/job`, policy: random.pick(['Background', 'Foreground', 'Orphan']) },
        ],
        4,
      ),
      pods('job', 'Succeeded'),
    ]
  },
  service: (random) => {
    const ports = random.pick([
      [{ port: 80, targetPort: 'http' }],
      [{ port: 80 }],
      [
        { name: 'a', port: 80 },
        { name: 'b', port: 81, targetPort: 8081 },
      ],
    ])
    const path = 'api/v1/services'
    return [
      create(path, 'svc', {
        selector: { app: 'web' },
        ports,
        ...random.pick([{}, { clusterIP: 'None' }, { publishNotReadyAddresses: true }]),
      }),
      create(`${apps}/replicasets`, 'web', { replicas: 1 + random.int(3), ...selected('web') }),
      pods('web', 'Running'),
      ...some(
        random,
        [
          patch(`${apps}/replicasets/web`, { spec: { replicas: random.int(5) } }),
          pods('web', 'Running'),
          patch(`${path}/svc`, { spec: { selector: { app: 'other' } } }),
          patch(`${path}/svc`, { metadata: { labels: { tier: 'x' } } }),
          create('apis/policy/v1/poddisruptionbudgets', 'pdb', {
            selector: { matchLabels: { app: 'web' } },
            ...random.pick([{ minAvailable: 1 }, { maxUnavailable: '50%' }]),
          }),
          { do: 'delete', path: `${path}/svc`, policy: 'Background' },
        ],
        4,
      ),
    ]
  },
  cronjob: (random) => {
    const path = `${batch}/cronjobs`
    const schedule = random.pick(['0 0 1 1 *', '59 23 31 2 *', 'TZ=UTC 0 0 1 1 *'])
    const spec = { schedule, jobTemplate: { spec: { template: template('tick', 'a', { restartPolicy: 'Never' }) } } }
    return [
      create(path, 'tick', { ...spec, ...random.pick([{}, { suspend: true }, { timeZone: 'Etc/UTC' }]) }),
      create(`${batch}/jobs`, 'stray', { template: template('stray', 'a', { restartPolicy: 'Never' }) }),
      pods('stray', random.pick(['Succeeded', 'Failed'])),
      { do: 'delete', path: `${path}/tick`, policy: 'Background' },
    ]
  },
}

/** Generates a scenario. */
export function controllerScenario(random: Random): ControllerScenario {
  const kind = random.pick(Object.keys(controllerScenarios))
  return { kind, steps: controllerScenarios[kind]!(random) }
}

function some(random: Random, steps: readonly Step[], count: number): Step[] {
  return Array.from({ length: count }, () => random.pick(steps))
}
