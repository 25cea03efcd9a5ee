import { controllerRef, defineResource, isNotFound, type KubeObject } from '@kubewright/api'
import { ConfigMap, Deployment, HorizontalPodAutoscaler, ServiceAccount } from '@kubewright/k8s'
import { can, defineController, defineOperator, type Operator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { type Operation, scheduleId } from '../define/schedule.ts'
import type { Invariant } from '../oracles/invariants.ts'
import { explore } from '../simulate.ts'
import { planted, plantedSamples, Thing } from '../testdata/planted.ts'

const create: Operation = { do: 'create', subject: 0, variant: 0, after: 0 }
const later = (verb: Operation['do'], variant = 0): Operation => ({ do: verb, subject: 0, variant, after: 60_000 })
const replayOf = (...operations: Operation[]): string => scheduleId({ seed: 1, operations, faults: [], replicas: 1 })

const Scaled = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Scaled',
  spec: s.object({ min: s.int({ minimum: 1, maximum: 3 }) }),
  status: s.object({ ready: s.int() }).optional(),
})
const scaledSamples = [Scaled({ metadata: { name: 'one' }, spec: { min: 1 } })]

/** An operator of a Deployment with an autoscaler. */
function scaledOperator(maxOf: (min: number) => number): Operator {
  const controller = defineController(Scaled, {
    owns: [Deployment, HorizontalPodAutoscaler],
    async reconcile({ metadata: { name }, spec: { min } }, { apply }) {
      const labels = { app: name }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
      const draft = Deployment({ metadata: { name }, spec: { selector: { matchLabels: labels }, template } })
      const { status } = await apply(draft)
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name }
      const limits = { minReplicas: min, maxReplicas: maxOf(min), scaleTargetRef }
      await apply(HorizontalPodAutoscaler({ metadata: { name }, spec: limits }))
      return { status: { ready: status?.readyReplicas ?? 0 } }
    },
  })
  return defineOperator({ name: 'planted', controllers: [controller] })
}

// Each of these operators is correct, although its end state depends on the history. Each was reported once.
describe('a fair simulation', { timeout: 120_000 }, () => {
  test('accepts that an object expires in runs that take longer', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      rbac: [can(ConfigMap, 'delete')],
      async reconcile({ metadata: { name, namespace = '', creationTimestamp } }, { apply, children, client, now }) {
        // A run of a single operation ends before, and one of several operations later.
        const left = Date.parse(String(creationTimestamp)) + 28 * 60_000 - now().getTime()
        if (left > 0) await apply(ConfigMap({ metadata: { name }, data: { key: 'value' } }))
        else if ((await children(ConfigMap)).length > 0) await client.delete(ConfigMap, { name, namespace })
        return left > 0 ? { requeueAfter: left } : {}
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const replay = replayOf(create, later('change', 1), later('change'), later('change', 1), later('change'))
    const report = await explore(operator, { samples: plantedSamples, replay })
    expect(report.operations).toMatchObject({ change: 4 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts a timetable, whose phase depends on the end of a run', async () => {
    const period = 22 * 60_000
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }, { apply, now }) {
        const time = now().getTime()
        const phase = Math.floor(time / period) % 2 === 0 ? 'day' : 'night'
        await apply(ConfigMap({ metadata: { name }, data: { phase } }))
        return { requeueAfter: period - (time % period) }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const changes = Array.from({ length: 12 }, (_, index) => later('change', index % 2))
    for (const length of [3, 6, 9, 12]) {
      const replay = replayOf(create, ...changes.slice(0, length))
      const report = await explore(operator, { samples: plantedSamples, replay })
      expect(report.failure?.story).toBeUndefined()
    }
  })

  test('accepts a child for each generation of its owner', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      prune: true,
      async reconcile({ metadata: { name, generation }, spec: { color } }, { apply }) {
        const child = `${name}-${generation}`
        await apply(ConfigMap({ metadata: { name: child }, data: { color } }))
        return { status: { phase: child } }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const report = await explore(operator, { samples: plantedSamples, schedules: 60 })
    expect(report.operations['change']).toBeGreaterThan(0)
    expect(report.failure?.story).toBeUndefined()
  })

  test('reports a child that remains although its name has the number of the generation', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name }, spec: { size } }, { apply }) {
        for (let index = 1; index <= size; index++) await apply(ConfigMap({ metadata: { name: `${name}-${index}` } }))
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const { failure } = await explore(operator, { samples: plantedSamples, schedules: 40, faults: [] })
    expect(failure?.violation.oracle).toBe('end state')
  })

  test('accepts the time of a restart that a new object has not had', async () => {
    const controller = defineController(Thing, {
      owns: [ConfigMap],
      rbac: [can(ConfigMap, 'create', 'update')],
      async reconcile(thing, { client, now }) {
        const { name, namespace = '' } = thing.metadata
        const { color } = thing.spec
        const found = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
        const ownerReferences = [controllerRef(thing as KubeObject)]
        if (found === undefined)
          await client.create(ConfigMap({ metadata: { name, namespace, ownerReferences }, data: { color } }))
        else if (found.data?.['color'] !== color)
          await client.update({ ...found, data: { color, changedAt: now().toISOString() } })
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const report = await explore(operator, { samples: plantedSamples, schedules: 12, faults: [] })
    expect(report.operations['change']).toBeGreaterThan(0)
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts that a policy keeps a child, and that a shared collection stays empty', async () => {
    const Export = defineResource({
      group: 'planted.example.com',
      version: 'v1',
      kind: 'Export',
      spec: s.object({ deletionPolicy: s.enum('Delete', 'Retain').default('Delete') }),
    })
    const shared = { name: 'exports', namespace: 'default' }
    const controller = defineController(Export, {
      rbac: [can(ConfigMap, 'get', 'create', 'update', 'patch', 'delete')],
      async reconcile({ metadata: { name, namespace = '', uid } }, { client }) {
        const live = await client.find(Export, { name, namespace }, { consistency: 'live' })
        if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return
        await client.apply(ConfigMap({ metadata: { name, namespace }, data: { key: 'value' } }))
        const patch = { data: { [`${namespace}.${name}`]: 'yes' } }
        if ((await client.find(ConfigMap, shared)) === undefined) await client.create(ConfigMap({ metadata: shared }))
        await client.patch(ConfigMap, shared, patch)
      },
      async cleanup({ metadata: { name, namespace = '' }, spec }, { client }) {
        const ignoreMissing = (error: unknown): void => {
          if (!isNotFound(error)) throw error
        }
        await client
          .patch(ConfigMap, shared, { data: { [`${namespace}.${name}`]: null } } as never)
          .catch(ignoreMissing)
        if (spec.deletionPolicy === 'Delete') await client.delete(ConfigMap, { name, namespace }).catch(ignoreMissing)
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Export({ metadata: { name: 'one' }, spec: {} })]
    const report = await explore(operator, { samples, schedules: 25, faults: [] })
    expect(report.operations['delete']).toBeGreaterThan(2)
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts a given object that the operator has changed and restored', async () => {
    const key = 'planted.example.com/things'
    const controller = defineController(Thing, {
      rbac: [can(ServiceAccount, 'get', 'patch')],
      async reconcile({ metadata: { name, namespace = '' } }, { client }) {
        await client.patch(
          ServiceAccount,
          { name: 'builder', namespace },
          { metadata: { annotations: { [key]: name } } },
        )
      },
      async cleanup({ metadata: { namespace = '' } }, { client }) {
        const patch = { metadata: { annotations: { [key]: null } } }
        await client.patch(ServiceAccount, { name: 'builder', namespace }, patch as never)
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const builder = ServiceAccount({ metadata: { name: 'builder', namespace: 'default' } })
    const samples = [...plantedSamples, builder]
    const report = await explore(operator, { samples, replay: replayOf(create, later('delete')) })
    expect(report.operations).toMatchObject({ delete: 1 })
    expect(report.failure?.story).toBeUndefined()
    // Nor does a user delete it, as if it were a child.
    const { failure } = await explore(operator, { samples, schedules: 30, faults: ['others'] })
    expect(failure?.story).toBeUndefined()
  })

  test('accepts the number of replicas that an autoscaler has chosen before', async () => {
    const operator = scaledOperator(() => 5)
    const replay = replayOf(create, later('change', 1), later('change'))
    const report = await explore(operator, { samples: scaledSamples, replay })
    expect(report.operations).toMatchObject({ change: 2 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not let the autoscaler of another owner scale the workload of the operator', async () => {
    const operator = scaledOperator((min) => min)
    const neighbor: Operation = { do: 'neighbor', subject: 1, variant: 0, after: 60_000 }
    const replay = replayOf(create, neighbor, later('change', 1))
    const calm: Invariant = {
      name: 'one autoscaler',
      when: 'settled',
      // Two autoscalers that disagree change the workload all the time.
      check: (objects) => objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.generation! > 9)?.kind,
    }
    const report = await explore(operator, { samples: scaledSamples, replay, invariants: [calm] })
    expect(report.operations).toMatchObject({ neighbor: 1, change: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts that the first of two objects keeps a child that both want', async () => {
    const { make, options } = planted['leaves the Service with a former name behind']!
    // The second object gets a name of its own, and then the name that the first one has.
    const second = { subject: 2, after: 60_000 }
    const replay = replayOf(
      { ...second, do: 'create', variant: 6 },
      { ...create, after: 60_000 },
      { ...second, do: 'change', variant: 1 },
    )
    const report = await explore(make(true), { ...options, replay } as never)
    expect(report.operations).toEqual({ create: 2, change: 1 })
    expect(report.failure?.story).toBeUndefined()
  })
})
