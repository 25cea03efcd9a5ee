import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { condition, defineResource } from '@kubewright/api'
import { ConfigMap, Pod } from '@kubewright/k8s'
import { defineController, defineOperator, defineWebhook } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { type Schedule, scheduleId } from './define/schedule.ts'
import type { ProcessHost } from './index.ts'
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
        async reconcile({ metadata: { name } }, { apply, children }) {
          const [existing] = await children(ConfigMap)
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

  test('rejects an ID that is not one', async () => {
    await expect(explore(bug.make(true), { ...base, replay: 'nonsense' })).rejects.toMatchObject({
      code: 'KW_SIMULATION_REPLAY',
    })
  })
})
