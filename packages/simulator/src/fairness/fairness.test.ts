import { defineResource } from '@kubewright/api'
import { ConfigMap, Deployment, Pod, Secret, Service, StatefulSet } from '@kubewright/k8s'
import {
  defineController,
  defineOperator,
  defineWebhook,
  invalid,
  type Operator,
  TerminalError,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import type { Fault } from '../define/define-fault.ts'
import { type Schedule, scheduleId } from '../define/schedule.ts'
import type { SimulationReport } from '../report/simulation-report.ts'
import { explore } from '../simulate.ts'
import { Cloud, planted, plantedSamples, Thing } from '../testdata/planted.ts'

const base = { samples: plantedSamples, world: () => new Cloud() }

/** Runs a schedule of the corrected form of a planted operator. */
function replayTwin(name: string, schedule: Schedule): Promise<SimulationReport> {
  const { make, options } = planted[name]!
  return explore(make(true), { ...base, ...options, replay: scheduleId(schedule) })
}

// Each of these operators is correct, and was reported once.
describe('a fair simulation', { timeout: 120_000 }, () => {
  test('does not compare a form that stops the work of the operator, but its later continuation', async () => {
    const Paused = defineResource({
      group: 'planted.example.com',
      version: 'v1',
      kind: 'Paused',
      spec: s.object({ paused: s.bool().optional() }),
    })
    const controller = defineController(Paused, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec }, { apply }) {
        if (!spec.paused) await apply(ConfigMap({ metadata: { name }, data: { key: 'value' } }))
      },
    })
    const operator = defineOperator({ name: 'paused', controllers: [controller] })
    const samples = [Paused({ metadata: { name: 'one' }, spec: {} })]
    const report = await explore(operator, { samples, schedules: 8, faults: [] })
    expect(report.operations['change']).toBeGreaterThan(0)
    expect(report.failure?.story).toBeUndefined()
  })

  test('finds nothing when a new process sees an object that was cleaned up and is gone', async () => {
    const schedule: Schedule = {
      seed: 1,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        { do: 'delete', subject: 0, variant: 0, after: 60_000 },
      ],
      // The finalizer, the bucket and the status; then the removal of the bucket and of the finalizer.
      faults: [{ kind: 'stale', at: 5, changes: 3, lag: 20_000 }],
      replicas: 1,
    }
    const report = await replayTwin('loses a bucket between its creation and the record of its name', schedule)
    expect(report.faults).toEqual({ stale: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not delete an object while a leader sleeps that may call the outside world once more', async () => {
    const schedule: Schedule = {
      // A seed with which the operator was reported.
      seed: 1277608141,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        // When another replica leads.
        { do: 'delete', subject: 0, variant: 0, after: 234_000 },
      ],
      // The finalizer, before the bucket.
      faults: [{ kind: 'pause', at: 1, for: 360_000 }],
      replicas: 2,
    }
    const report = await replayTwin('works on every replica', schedule)
    expect(report.faults).toEqual({ leader: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not create an object again while a leader sleeps that was awake when the user began to wait for the name', async () => {
    const pause = (at: number): Fault => ({ kind: 'pause', at, for: 360_000 })
    const schedule: Schedule = {
      // A seed with which the operator was reported.
      seed: 665228673,
      operations: [
        { do: 'create', subject: 2, variant: 0, after: 60_000 },
        { do: 'create', subject: 0, variant: 1, after: 60_000 },
        { do: 'delete', subject: 2, variant: 0, after: 500 },
        { do: 'create', subject: 2, variant: 4, after: 5000 },
      ],
      // The last one before the bucket is removed.
      faults: [pause(3), pause(6), pause(5), pause(7)],
      replicas: 2,
    }
    const report = await replayTwin('works on every replica', schedule)
    expect(report.faults).toEqual({ leader: 4 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts the claim of a replica that a user has added to a StatefulSet for a moment', async () => {
    const edit = (at: number, pick: number): Fault => ({ kind: 'child-changed', at, pick, delay: 30_000 })
    const schedule: Schedule = {
      // A seed with which the operator was reported.
      seed: 513624509,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        { do: 'delete', subject: 0, variant: 0, after: 60_000 },
        { do: 'create', subject: 0, variant: 0, after: 20 },
      ],
      // The operator deletes the claim of the first edit, so that the second one is compared.
      faults: [edit(10, 11), edit(2, 2)],
      replicas: 1,
    }
    const report = await replayTwin('deletes the volumes of other instances', schedule)
    expect(report.faults).toEqual({ others: 2 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts an operator with a shorter deadline of its leader election', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }) {
        await apply(ConfigMap({ metadata: { name }, data: { key: 'value' } }))
      },
    })
    const leaderElection = { leaseDuration: '6s', renewDeadline: '4s', retryPeriod: '1s' } as const
    for (const election of [leaderElection, { renewDeadline: '5s' } as const]) {
      const operator = defineOperator({ name: 'elected', controllers: [controller], leaderElection: election })
      const operations = [{ do: 'create', subject: 0, variant: 0, after: 0 }] as const
      const replay = scheduleId({ seed: 1, operations, faults: [], replicas: 2 })
      const { failure, schedules } = await explore(operator, { samples: plantedSamples, replay })
      expect(failure?.story).toBeUndefined()
      expect(schedules).toBe(1)
    }
  })

  test('finds nothing when a lost node takes the pod of another owner with it', async () => {
    const schedule: Schedule = {
      seed: 1,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        { do: 'neighbor', subject: 1, variant: 0, after: 60_000 },
        { do: 'change', subject: 0, variant: 1, after: 60_000 },
      ],
      faults: [{ kind: 'node-lost', at: 5, delay: 20_000, for: 30_000 }],
      replicas: 1,
    }
    const report = await replayTwin('does not replace failed pods', schedule)
    expect(report).toMatchObject({ faults: { pods: 1 }, operations: { neighbor: 1 } })
    expect(report.failure?.story).toBeUndefined()
  })

  test('finds nothing when the workload of another owner has the labels of a child without its name', async () => {
    const controller = defineController(Thing, {
      owns: [Deployment],
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] }],
      async reconcile({ metadata: { name, namespace = '' } }, { apply, watch, client }) {
        const labels = { app: name, part: 'web' }
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
        await apply(Deployment({ metadata: { name, labels }, spec: { selector: { matchLabels: labels }, template } }))
        const pods = await watch(Pod, { selector: `app=${name}`, namespace })
        if (pods.length < 2) return
        for (const { metadata } of pods) if (metadata.name.includes('neighbor')) await client.delete(Pod, metadata)
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const create = { do: 'create' as const, subject: 0, variant: 0, after: 0 }
    const operations = [create, { ...create, do: 'neighbor' as const, after: 60_000 }]
    const replay = scheduleId({ seed: 1, operations, faults: [], replicas: 1 })
    const report = await explore(operator, { samples: plantedSamples, replay })
    expect(report.operations).toMatchObject({ neighbor: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('deletes no pod whose work is done', async () => {
    const controller = defineController(Thing, {
      owns: [Pod],
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'get'] }],
      async reconcile(thing, { apply }) {
        const { metadata, status } = thing
        if (status?.phase === 'Done') return
        const containers = [{ name: 'task', image: 'task:1' }]
        const pod = await apply(
          Pod({ metadata: { name: metadata.name }, spec: { containers, restartPolicy: 'Never' } }),
        )
        return { status: { phase: pod.status?.phase === 'Succeeded' ? 'Done' : 'Running' } }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const report = await explore(operator, { samples: plantedSamples, faults: ['others'], schedules: 16 })
    expect(report.faults).toMatchObject({ others: expect.any(Number) })
    expect(report.failure?.story).toBeUndefined()
    // It goes with its node.
    const operations = [{ do: 'create', subject: 0, variant: 0, after: 0 }] as const
    const lost = { kind: 'node-lost', at: 1, delay: 20_000, for: 30_000 } as const
    const replay = scheduleId({ seed: 1, operations, faults: [lost], replicas: 1 })
    const { failure, faults } = await explore(operator, { samples: plantedSamples, replay })
    expect(faults).toEqual({ pods: 1 })
    expect(failure?.story).toBeUndefined()
  })

  test('does not compare generated parts of a pod that the operator deletes only after a change', async () => {
    const controller = defineController(Thing, {
      owns: [StatefulSet],
      rbac: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] }],
      async reconcile({ metadata: { name, namespace = '' }, spec: { color } }, { apply, watch, client }) {
        const labels = { app: name }
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: `web:${color}` }] } }
        const updateStrategy = { type: 'OnDelete' as const }
        const spec = { serviceName: name, selector: { matchLabels: labels }, updateStrategy, template }
        const { metadata: set, status } = await apply(StatefulSet({ metadata: { name }, spec }))
        if (status?.observedGeneration !== set.generation) return
        for (const { metadata } of await watch(Pod, { selector: `app=${name}`, namespace })) {
          const revision = metadata.labels?.['controller-revision-hash']
          if (revision === status?.updateRevision || metadata.deletionTimestamp !== undefined) continue
          await client.delete(Pod, metadata, { preconditions: { uid: metadata.uid } })
        }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const create = { do: 'create' as const, subject: 0, variant: 0, after: 0 }
    // Of the color.
    const operations = [create, { ...create, do: 'change' as const, variant: 1, after: 60_000 }]
    const replay = scheduleId({ seed: 1, operations, faults: [], replicas: 1 })
    const { failure } = await explore(operator, { samples: plantedSamples, replay })
    expect(failure?.story).toBeUndefined()
  })

  test('does not compare a form that the operator refuses with a TerminalError', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec }, { apply }) {
        if (spec.size === 0) throw new TerminalError('size must not be 0')
        await apply(ConfigMap({ metadata: { name }, data: { size: String(spec.size) } }))
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const report = await explore(operator, { samples: plantedSamples, faults: [], schedules: 24 })
    expect(report.failure?.story).toBeUndefined()
    expect(report.operations['change']).toBeGreaterThan(0)
  })

  test('accepts a child that the operator releases before its owner is deleted', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }],
      async reconcile({ metadata: { name } }, { apply }) {
        await apply(ConfigMap({ metadata: { name } }))
      },
      async cleanup({ metadata: { name, namespace = '' } }, { client }) {
        const child = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
        if (child?.metadata.ownerReferences === undefined) return
        await client.patch(ConfigMap, { name, namespace }, { metadata: { ownerReferences: null } } as never)
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const create = { do: 'create' as const, subject: 0, variant: 0, after: 0 }
    const operations = [create, { ...create, do: 'delete' as const, after: 60_000 }]
    const replay = scheduleId({ seed: 1, operations, faults: [], replicas: 1 })
    const { failure } = await explore(operator, { samples: plantedSamples, replay })
    expect(failure?.story).toBeUndefined()
  })

  test('starts one process after two crashes at the same action', async () => {
    const { make, options } = planted['generates the password again after a restart']!
    const create = { do: 'create' as const, subject: 0, variant: 0, after: 0 }
    const operations = [create, { ...create, do: 'delete' as const, after: 60_000 }, { ...create, after: 60_000 }]
    const crash = { kind: 'crash' as const, at: 5, when: 'before' as const, downtime: 0 }
    // Two processes at the same time would both generate a password.
    const replay = scheduleId({ seed: 914239640, operations, faults: [crash, { ...crash }], replicas: 1 })
    const report = await explore(make(true), { ...base, ...options, replay })
    expect(report.faults).toEqual({ crash: 2 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not process a slow request of a process that has died meanwhile', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }],
      async reconcile({ metadata: { name } }, { client }) {
        const metadata = { name: `copy-of-${name}`, namespace: 'default' }
        if ((await client.find(ConfigMap, metadata)) === undefined) await client.create(ConfigMap({ metadata }))
      },
      async cleanup({ metadata: { name } }, { client }) {
        const key = { name: `copy-of-${name}`, namespace: 'default' }
        if ((await client.find(ConfigMap, key, { consistency: 'live' })) !== undefined)
          await client.delete(ConfigMap, key)
      },
    })
    const operator = defineOperator({ name: 'copies', controllers: [controller] })
    const create = { do: 'create' as const, subject: 0, variant: 0, after: 0 }
    const operations = [create, { ...create, do: 'delete' as const, after: 5200 }]
    // The finalizer, then the copy.
    const crash = { kind: 'crash' as const, at: 1, when: 'between' as const, downtime: 0 }
    const faults = [crash, { kind: 'slow' as const, at: 2, by: 8000 }]
    const replay = scheduleId({ seed: 1, operations, faults, replicas: 1 })
    const report = await explore(operator, { samples: plantedSamples, replay })
    expect(report.faults).toEqual({ crash: 1, slow: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('moves the time of the outside world together with that of the operator', async () => {
    const certificates = (world: { issue(): Promise<number> }): Operator => {
      const controller = defineController(Thing, {
        owns: [ConfigMap],
        async reconcile({ metadata: { name, namespace = '' } }, { apply, client, now }) {
          const left = (until: number): number => until - now().getTime()
          const known = Number((await client.find(ConfigMap, { name, namespace }))?.data?.['until'] ?? 0)
          if (left(known) > 60_000) return { requeueAfter: left(known) - 60_000 }
          const until = await world.issue()
          await apply(ConfigMap({ metadata: { name }, data: { until: String(until) } }))
          return { requeueAfter: Math.max(1, left(until) - 60_000) }
        },
      })
      return defineOperator({ name: 'planted', controllers: [controller] })
    }
    const issuer = { issue: async () => Date.now() + 10 * 60_000 }
    const report = await explore(({ world }) => certificates(world), {
      samples: plantedSamples,
      world: () => issuer,
      faults: ['clock'],
      schedules: 12,
      ignore: ['data.until'],
    })
    expect(report.faults).toMatchObject({ clock: expect.any(Number) })
    expect(report.failure?.story).toBeUndefined()
  })

  test('finds no loop when an owner that is gone exists in a late view only', async () => {
    const schedule: Schedule = {
      // The operator learns of the deleted child before it learns of the deleted owner.
      seed: 1160123038,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        { do: 'create', subject: 1, variant: 0, after: 0 },
        { do: 'delete', subject: 1, variant: 0, after: 10_000 },
      ],
      // It creates the child again, and the garbage collector deletes it, until the operator sees that the owner is gone.
      faults: [{ kind: 'watch-lag', at: 4, resource: 'things', for: 30_000 }],
      replicas: 1,
    }
    const report = await replayTwin('does not watch its child', schedule)
    expect(report.faults).toEqual({ watch: 1 })
    expect(report.requests).toBeGreaterThan(100)
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts a webhook that refuses a write because its own request failed', async () => {
    const operator = (): Operator =>
      defineOperator({
        name: 'planted',
        controllers: [defineController(Thing, { reconcile: () => undefined, cleanup: () => undefined })],
        webhooks: [
          defineWebhook(Thing, {
            validate: async (thing, { client }) => {
              const others = await client.list(Thing, { namespace: `${thing.metadata.namespace}` })
              return [others.length > 100 && invalid('metadata', 'there are too many')]
            },
          }),
        ],
      })
    const { failure, schedules } = await explore(operator, { ...base, faults: ['error'], schedules: 40 })
    expect(failure?.story).toBeUndefined()
    expect(schedules).toBe(40)
  })

  test('lets another writer undo its change although the webhooks are down meanwhile', async () => {
    const operator = (): Operator =>
      defineOperator({
        name: 'planted',
        controllers: [
          defineController(Thing, { reconcile: () => ({ status: { phase: 'Ready' } }), cleanup: () => undefined }),
        ],
        webhooks: [
          defineWebhook(Thing, {
            validate: async (_, { client }) => [
              (await client.list(Thing)).length > 100 && invalid('metadata', 'too many'),
            ],
          }),
        ],
      })
    for (let at = 1; at <= 6; at++) {
      const faults: Fault[] = [
        { kind: 'error', at, status: 409, times: 1 },
        { kind: 'crash', at: at + 1, when: 'between', downtime: 30_000 },
      ]
      const operations = [{ do: 'create' as const, subject: 0, variant: 0, after: 0 }]
      const replay = scheduleId({ seed: 1, operations, faults, replicas: 1 })
      const { failure } = await explore(operator, { ...base, replay })
      expect(failure?.story).toBeUndefined()
    }
  })

  test('accepts an old observedGeneration while the server refuses the children of a spec', async () => {
    const Port = defineResource({
      group: 'planted.example.com',
      version: 'v1',
      kind: 'Port',
      spec: s.object({ protocol: s.string().default('TCP') }),
      status: s.object({ observedGeneration: s.int() }).optional(),
    })
    const controller = defineController(Port, {
      owns: [Service],
      async reconcile({ metadata: { name, generation = 0 }, spec }, { apply }) {
        const protocol = spec.protocol as 'TCP'
        await apply(Service({ metadata: { name }, spec: { ports: [{ port: 80, protocol }] } }))
        return { status: { observedGeneration: generation } }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Port({ metadata: { name: 'port' }, spec: {} })]
    const report = await explore(operator, { samples, faults: [], schedules: 8 })
    expect(report.failure?.story).toBeUndefined()
    expect(report.operations['change']).toBeGreaterThan(0)
  })

  test('does not compare fields that depend on the resource version of an input', async () => {
    const login = Secret({ metadata: { name: 'login', namespace: 'default' }, stringData: { user: 'alice' } })
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      rbac: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }],
      async reconcile({ metadata: { name, namespace = '' } }, { apply, client }) {
        const { metadata } = await client.get(Secret, { name: 'login', namespace }, { consistency: 'live' })
        await apply(ConfigMap({ metadata: { name }, data: { version: metadata.resourceVersion } }))
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const report = await explore(operator, { samples: [...plantedSamples, login], faults: [], schedules: 24 })
    expect(report.failure?.story).toBeUndefined()
    expect(report.operations['input']).toBeGreaterThan(0)
  })

  test('accepts a status that counts and lists the changes of its object', async () => {
    const Release = defineResource({
      group: 'planted.example.com',
      version: 'v1',
      kind: 'Release',
      spec: s.object({ image: s.string(), isPublic: s.bool().default(false) }),
      status: s.object({ revision: s.int(), history: s.array(s.string()) }).optional(),
    })
    const controller = defineController(Release, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec, status }, { apply }) {
        const { revision = 0, history = [] } = status ?? {}
        const form = `${spec.image} ${spec.isPublic}`
        await apply(ConfigMap({ metadata: { name }, data: { form } }))
        if (history.at(-1) !== form) return { status: { revision: revision + 1, history: [...history, form] } }
        return
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Release({ metadata: { name: 'release' }, spec: { image: 'web:1' } })]
    const report = await explore(operator, { samples, schedules: 60 })
    expect(report.failure?.story).toBeUndefined()
    expect(report.operations['change']).toBeGreaterThan(0)
  })
})
