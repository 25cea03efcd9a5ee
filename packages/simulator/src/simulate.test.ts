import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { condition, defineResource } from '@kubewright/api'
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
import type { ProcessHost } from './index.ts'
import { type Schedule, scheduleId } from './schedule.ts'
import { explore, SimulationError, simulate } from './simulate.ts'
import { Cloud, planted, plantedSamples, Thing } from './testdata/planted.ts'
import { App } from './testdata/planted-workloads.ts'

const bug = planted['swallows errors']!
const base = { samples: plantedSamples, world: () => new Cloud() }

describe('simulate()', { timeout: 120_000 }, () => {
  test('gives the same histories for the same seed, and others for another seed', async () => {
    const hashOf = async (seed: number): Promise<string> =>
      (await explore(bug.make(true), { ...base, schedules: 10, seed })).hash
    const [first, second, other] = [await hashOf(7), await hashOf(7), await hashOf(8)]
    expect(second).toBe(first)
    expect(other).not.toBe(first)
  })

  test('throws the shrunk story of a failure, whose ID replays the identical history', async () => {
    const error = (await simulate(bug.make(false), base).catch((caught: unknown) => caught)) as SimulationError
    expect(error).toBeInstanceOf(SimulationError)
    const failure = error.report.failure!
    expect(failure).toMatchObject({ faults: 1, operations: 1 })
    expect(error.message).toContain('The user creates Thing default/thing')
    expect(error.message).toContain('ConfigMap default/thing is missing')
    expect(failure.states).toBeUndefined()
    // Recording does not change the run.
    const replayed = await explore(bug.make(false), { ...base, replay: failure.id, record: true })
    expect(replayed.failure).toMatchObject({ hash: failure.hash, story: failure.story })
    const things = replayed.failure?.states?.filter(({ object }) => object.kind === 'Thing') ?? []
    expect(things[0]).toMatchObject({ object: { metadata: { name: 'thing' } }, isDeleted: false })
    const times = replayed.failure?.states?.map(({ time }) => time) ?? []
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test('runs the schedules of the regressions file first, and adds new failures to it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
    const regressions = join(folder, 'regressions.json')
    try {
      const first = await explore(bug.make(false), { ...base, regressions })
      expect(JSON.parse(readFileSync(regressions, 'utf8'))).toMatchObject([
        { id: first.failure?.id, oracle: 'end state' },
      ])
      const second = await explore(bug.make(false), { ...base, regressions })
      expect(second).toMatchObject({ schedules: 1, failure: { id: first.failure?.id } })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('does not compare end states in which isHeld() says that the operator leaves the children alone', async () => {
    const { make } = planted['keeps the child of a section that was removed']!
    const isHeld = (thing: object): boolean => (thing as Thing).spec.extra === undefined
    const { failure } = await explore(make(false), { ...base, faults: [], schedules: 30 })
    expect(failure?.violation.oracle).toBe('end state')
    const held = await explore(make(false), { ...base, replay: failure?.id, isHeld })
    expect(held).toMatchObject({ schedules: 1, failure: undefined })
  })

  test('runs the containers of pods in the world with processes', async () => {
    class Machines {
      readonly running = new Set<string>()
      readonly host: ProcessHost = {
        start: ({ command, env }) => {
          const name = `${command.join(' ')} in ${env['POD_NAMESPACE']}`
          this.running.add(name)
          let exit: (code: number) => void = () => undefined
          const exited = new Promise<number>((resolve) => {
            exit = resolve
          })
          return {
            exited,
            stop: () => {
              this.running.delete(name)
              exit(0)
            },
          }
        },
      }
    }
    const controller = defineController(Thing, {
      owns: [Pod],
      async reconcile({ metadata: { name } }, { apply }) {
        const containers = [{ name: 'member', image: 'member', command: ['member'] }]
        await apply(
          Pod({ metadata: { name, annotations: { 'kubewright.dev/process': 'true' } }, spec: { containers } }),
        )
      },
    })
    const seen = new Set<string>()
    const operator = defineOperator({ name: 'system', controllers: [controller] })
    const { failure } = await explore<Machines>(() => operator, {
      samples: plantedSamples,
      schedules: 4,
      world: () => new Machines(),
      processes: ({ host }) => host,
      invariants: [
        {
          name: 'a process per thing',
          when: 'settled',
          check: (objects, { running }) => {
            for (const name of running) seen.add(name)
            const things = objects.filter(({ kind }) => kind === 'Thing').length
            return running.size === things ? undefined : `${running.size} processes of ${things} things`
          },
        },
      ],
    })
    expect(failure?.story).toBeUndefined()
    expect(seen).toContain('member in default')
  })

  test('puts Date, timers and Math.random of the operator on the virtual clock and reports them', async () => {
    const years = new Set<number>()
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }) {
        years.add(new Date().getFullYear())
        await new Promise((resolve) => setTimeout(resolve, 60_000))
        await apply(ConfigMap({ metadata: { name }, data: { sum: String(Math.random() < 2) } }))
      },
    })
    const operator = defineOperator({ name: 'impure', controllers: [controller] })
    const { nondeterminism, failure } = await explore(operator, { samples: plantedSamples, schedules: 2 })
    expect(failure?.story).toBeUndefined()
    expect([...years]).toEqual([2025])
    expect(nondeterminism.map((report) => report.replace(/ .*/s, ''))).toEqual(['new', 'setTimeout()', 'Math.random()'])
  })

  test('gives the same history on every version of Node.js', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }) {
        await apply(ConfigMap({ metadata: { name }, data: { key: 'value' } }))
      },
    })
    const operator = defineOperator({ name: 'stable', controllers: [controller] })
    const { hash } = await explore(operator, { samples: plantedSamples, schedules: 8, seed: 1 })
    // CI runs this on every supported version. Changes of the framework may change the history: renew it with `vitest -u`.
    await expect(`${hash}\n`).toMatchFileSnapshot('testdata/history.sha256')
  })

  test('makes the second run of a reference only if a schedule differs from the first', async () => {
    const operatorWith = (value: () => string): ReturnType<typeof defineOperator> => {
      const controller = defineController(Thing, {
        owns: [ConfigMap],
        async reconcile({ metadata: { name } }, { apply, owned }) {
          const [existing] = await owned(ConfigMap)
          await apply(ConfigMap({ metadata: { name }, data: { key: existing?.data?.['key'] ?? value() } }))
        },
      })
      return defineOperator({ name: 'referred', controllers: [controller] })
    }
    const options = { samples: plantedSamples, schedules: 1 }
    // The schedule, its repetition for the check of determinism, and the first run of the reference.
    expect(
      await explore(
        operatorWith(() => 'same'),
        options,
      ),
    ).toMatchObject({ runs: 3, failure: undefined })
    expect(
      await explore(
        operatorWith(() => String(Math.random())),
        options,
      ),
    ).toMatchObject({
      runs: 4,
      failure: undefined,
    })
  })

  test('seeds the random functions of node:crypto, and reports files and sockets', async () => {
    const drawn: string[] = []
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply }) {
        drawn.push([randomUUID(), randomBytes(4).toString('hex'), randomInt(10), performance.now()].join())
        readFileSync(import.meta.filename)
        await apply(ConfigMap({ metadata: { name }, data: { key: 'value' } }))
      },
    })
    const operator = defineOperator({ name: 'impure', controllers: [controller] })
    const run = async (): Promise<string[]> => {
      drawn.length = 0
      const { nondeterminism } = await explore(operator, { samples: plantedSamples, schedules: 1 })
      expect(nondeterminism.map((report) => report.replace(/ at .*\.ts\S*/s, ''))).toEqual([
        'crypto.randomUUID()',
        'crypto.randomBytes()',
        'crypto.randomInt()',
        'performance.now()',
        'fs.readFileSync() (real, not simulated)',
      ])
      return [...drawn]
    }
    const first = await run()
    expect(await run()).toEqual(first)
  })

  test('reports which single faults it has tried, and adds second faults', async () => {
    const { points, depths, schedules } = await explore(bug.make(true), { ...base, schedules: 40 })
    expect(depths[1]).toBeGreaterThanOrEqual(points.tried)
    expect(points.tried).toBeGreaterThan(5)
    expect(points.known).toBeGreaterThan(points.tried)
    expect(depths.reduce((sum, count) => sum + count, 0)).toBe(schedules)
  })

  test('warns about a sample that does not become ready without faults', async () => {
    const controller = defineController(App, {
      reconcile: () => ({
        status: { conditions: [condition('Ready', false, 'SecretMissing', 'Secret "login" does not exist')] },
      }),
    })
    const operator = defineOperator({ name: 'waiting', controllers: [controller] })
    const samples = [App({ metadata: { name: 'app' }, spec: {} })]
    const { warnings, failure } = await explore(operator, { samples, schedules: 1 })
    expect(failure?.story).toBeUndefined()
    expect(warnings).toEqual([
      'App default/app does not become ready without faults, so that the simulation covers only the work until then: the condition Ready is False, SecretMissing: Secret "login" does not exist',
    ])
  })

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
    const { make, options } = planted['loses a bucket between its creation and the record of its name']!
    const report = await explore(make(true), { ...base, ...options, replay: scheduleId(schedule) })
    expect(report.faults).toEqual({ stale: 1 })
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
    const { make, options } = planted['does not replace failed pods']!
    const report = await explore(make(true), { ...base, ...options, replay: scheduleId(schedule) })
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
        { do: 'delete', subject: 1, variant: 0, after: 60_000 },
      ],
      // It creates the child again, and the garbage collector deletes it, until the operator sees that the owner is gone.
      faults: [{ kind: 'watch-lag', at: 5, resource: 'things', for: 30_000 }],
      replicas: 1,
    }
    const { make, options } = planted['does not watch its child']!
    const report = await explore(make(true), { ...base, ...options, replay: scheduleId(schedule) })
    expect(report.faults).toEqual({ watch: 1 })
    expect(report.requests).toBeGreaterThan(1000)
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

  test('reports a webhook that fails', async () => {
    const webhook = defineWebhook(Thing, {
      validate(thing, { operation }) {
        if (operation === 'UPDATE') throw new TypeError(`cannot read ${thing.metadata.name}`)
        return []
      },
    })
    const controller = defineController(Thing, { async reconcile() {} })
    const operator = defineOperator({ name: 'planted', controllers: [controller], webhooks: [webhook] })
    const { failure } = await explore(operator, { samples: plantedSamples, schedules: 40 })
    expect(failure?.violation).toMatchObject({ oracle: 'admission' })
    expect(failure?.violation.message).toMatch(/The user cannot change Thing .*webhook/)
  })

  test('reports a deletion only if it does not finish when the objects of other kinds are deleted too', async () => {
    const define = (kind: string) =>
      defineResource({ group: 'planted.example.com', version: 'v1', kind, spec: s.object({}) })
    const [Disk, Mount] = [define('Disk'), define('Mount')]
    const operatorThat = (waits: 'for mounts' | 'for ever'): ReturnType<typeof defineOperator> =>
      defineOperator({
        name: 'disks',
        controllers: [
          defineController(Mount, { reconcile: () => undefined }),
          defineController(Disk, {
            reconcile: () => undefined,
            async cleanup(_, { client }) {
              const mounts = await client.list(Mount, { namespace: 'default' })
              return mounts.length > 0 || waits === 'for ever' ? { requeueAfter: '1m' } : {}
            },
          }),
        ],
      })
    const samples = [Disk, Mount].map((kind) => kind({ metadata: { name: 'one' }, spec: {} }))
    const schedule: Schedule = {
      seed: 1,
      operations: [
        { do: 'create', subject: 0, variant: 0, after: 0 },
        { do: 'create', subject: 3, variant: 0, after: 0 },
        { do: 'delete', subject: 0, variant: 0, after: 60_000 },
      ],
      faults: [],
      replicas: 1,
    }
    const replay = scheduleId(schedule)
    const waiting = await explore(operatorThat('for mounts'), { samples, replay })
    expect(waiting.failure?.story).toBeUndefined()
    const stuck = await explore(operatorThat('for ever'), { samples, replay })
    expect(stuck.failure?.violation.message).toBe('The deletion of Disk default/one does not finish')
  })

  test('names the given object that cannot be created', async () => {
    const samples = [...plantedSamples, ConfigMap({ metadata: { name: 'Wrong' } })]
    await expect(explore(bug.make(true), { ...base, samples })).rejects.toMatchObject({
      code: 'KW_SIMULATION_SAMPLES',
      message: expect.stringContaining('Cannot create the given ConfigMap Wrong before the operator starts'),
    })
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

  test('rejects an ID that is not one', async () => {
    await expect(explore(bug.make(true), { ...base, replay: 'nonsense' })).rejects.toMatchObject({
      code: 'KW_SIMULATION_REPLAY',
    })
  })
})
