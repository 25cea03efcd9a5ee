import { type ConditionDraft, condition, defineResource, type Infer, isConflict } from '@kubewright/api'
import { ConfigMap, Node } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TerminalError } from '../controller/reconcile-errors.ts'
import type { Outcome } from '../define/context.ts'
import { defineController } from '../define/define-controller.ts'
import { type Bench, startBench } from './testdata/bench.ts'
import { Home, install } from './testdata/home.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

type HomeStatus = NonNullable<Outcome<(typeof Home)['$status']>['status']>
const statusPath = 'PATCH /apis/ajd.example.com/v1/namespaces/default/homes/cosy/status'
const create = () => bench.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx:1.27' } }))
const get = () => bench.client.get(Home, 'cosy')

/** Runs consecutive reconciles with the statuses that they return. */
function reporter(name?: string): (status: HomeStatus) => Promise<void> {
  let status: HomeStatus = {}
  const reconcile = bench.run(defineController(Home, { ...(name ? { name } : {}), reconcile: () => ({ status }) }))
  return async (next) => {
    status = next
    await reconcile('default/cosy')
  }
}
const ready = (status: boolean, message = ''): ConditionDraft<'Ready'> => condition('Ready', status, 'Because', message)

describe('Outcome.status', () => {
  test('is applied in one request, with times and generations set', async () => {
    await create()
    await reporter()({ readyReplicas: 1, conditions: [ready(true)] })
    expect(bench.writes()).toEqual([statusPath])
    const { status, metadata } = await get()
    expect(status).toEqual({
      readyReplicas: 1,
      observedGeneration: 1,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Because',
          message: '',
          lastTransitionTime: '2025-01-01T00:00:00Z',
          observedGeneration: 1,
        },
      ],
    })
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'home-operator/home', operation: 'Apply', subresource: 'status' }),
    )
  })

  test('is not sent when it is equal, even by a new process', async () => {
    await create()
    const status = { readyReplicas: 1, conditions: [ready(true), condition('Reachable', 'Unknown', 'Asking')] }
    await reporter()(status)
    bench.writes()
    const { resourceVersion } = (await get()).metadata
    await bench.clock.advance('1h')
    await reporter()(status)
    expect([bench.writes(), (await get()).metadata.resourceVersion]).toEqual([[], resourceVersion])
    expect(bench.counts.get('kubewright_status_writes_total unchanged')).toBe(1)
  })

  test('may contain values that were read, and undefined fields, which are ignored', async () => {
    await create()
    const controller = defineController(Home, {
      reconcile: ({ status, spec }) => ({
        status: { ...status, readyReplicas: spec.domain?.length, conditions: status?.conditions ?? [ready(true)] },
      }),
    })
    await bench.run(controller)('default/cosy')
    bench.writes()
    const { status } = await get()
    expect(Object.keys(status ?? {}).sort()).toEqual(['conditions', 'observedGeneration'])
    await bench.run(controller)('default/cosy')
    expect([bench.writes(), (await get()).status]).toEqual([[], status])
  })

  test('changes lastTransitionTime only when the status of the condition changes', async () => {
    await create()
    const report = reporter()
    const times: (string | undefined)[] = []
    for (const draft of [ready(false, '0/1'), ready(false, '0/2'), ready(true, '2/2'), ready(true, '2/2')]) {
      await report({ conditions: [draft] })
      const [found] = (await get()).status?.conditions ?? []
      times.push(`${found?.message} ${found?.lastTransitionTime}`)
      await bench.clock.advance('1m')
    }
    expect(times).toEqual([
      '0/1 2025-01-01T00:00:00Z',
      '0/2 2025-01-01T00:00:00Z',
      '2/2 2025-01-01T00:02:00Z',
      '2/2 2025-01-01T00:02:00Z',
    ])
    expect(bench.writes()).toHaveLength(3)
  })

  test('has the generation that was reconciled', async () => {
    await create()
    const report = reporter()
    await report({ conditions: [ready(true)] })
    await bench.client.patch(Home, 'cosy', { spec: { replicas: 3 } })
    await report({ conditions: [ready(true)] })
    const { status } = await get()
    expect([status?.observedGeneration, status?.conditions?.[0]?.observedGeneration]).toEqual([2, 2])
  })

  test('loses fields that are no longer returned, and keeps fields of other managers', async () => {
    await create()
    await reporter('network')({ conditions: [condition('Reachable', true, 'Answers')] })
    const report = reporter()
    await report({ readyReplicas: 1, conditions: [ready(true)] })
    await report({ conditions: [] })
    const { status } = await get()
    expect(status?.readyReplicas).toBeUndefined()
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Reachable'])
  })

  test('can empty required lists and maps, which an apply alone would drop', async () => {
    const Fleet = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Fleet',
      spec: s.object({}),
      status: s.object({
        ships: s.array(s.object({ name: s.string(), crew: s.int() }), { listType: 'map', keys: ['name'] }),
        ports: s.object({ berths: s.map(s.int()) }),
      }),
    })
    await install(bench.client, Fleet)
    await bench.client.create(Fleet({ metadata: { name: 'white' }, spec: {} }))
    let status: NonNullable<Infer<typeof Fleet>['status']> = {
      ships: [{ name: 'a', crew: 1 }],
      ports: { berths: { x: 1 } },
    }
    const controller = defineController(Fleet, { reconcile: () => ({ status }) as never })
    const reconcile = bench.run(controller)
    const report = async (next: typeof status) => {
      status = next
      await reconcile('default/white')
      expect((await bench.client.get(Fleet, 'white')).status).toEqual(next)
    }
    await report(status)
    await report({ ships: [], ports: { berths: {} } })
    bench.writes()
    await report(status)
    await bench.run(controller)('default/white')
    expect(bench.writes().length).toBeLessThanOrEqual(1)
    await report({ ships: [{ name: 'b', crew: 2 }], ports: { berths: { y: 2 } } })
    await report({ ships: [], ports: { berths: { y: 2 } } })
  })

  test('restores values that others changed', async () => {
    await create()
    const report = reporter()
    await report({ readyReplicas: 1 })
    await bench.client.subresource(Home, 'status').patch('cosy', { status: { readyReplicas: 7 } })
    await report({ readyReplicas: 1 })
    expect((await get()).status?.readyReplicas).toBe(1)
  })

  test('is ignored when the object is deleted during the request', async () => {
    await create()
    bench.before = async ({ text }) => {
      if (text === statusPath) await bench.client.delete(Home, 'cosy')
    }
    await reporter()({ readyReplicas: 1 })
    expect(await bench.client.find(Home, 'cosy')).toBeUndefined()
  })

  test('is not written to another object with the same name', async () => {
    await create()
    const reconcile = bench.run(
      defineController(Home, {
        async reconcile() {
          await bench.client.delete(Home, 'cosy')
          await create()
          return { status: { readyReplicas: 1 } }
        },
      }),
    )
    await reconcile('default/cosy')
    expect([bench.writes(), (await get()).status]).toEqual([[], undefined])
  })

  test('is not written to an object that takes the name during the request', async () => {
    await create()
    await bench.client.create(Node({ metadata: { name: 'n' } }))
    bench.before = async ({ text }) => {
      if (text === statusPath) {
        await bench.client.delete(Home, 'cosy')
        await create()
      } else if (text.endsWith('/nodes/n/status')) {
        await bench.client.delete(Node, 'n')
        await bench.client.create(Node({ metadata: { name: 'n' } }))
      }
    }
    await reporter()({ readyReplicas: 1 })
    await bench.run(defineController(Node, { reconcile: () => ({ status: { phase: 'Running' } }) }))('n')
    expect([(await get()).status, (await bench.client.get(Node, 'n')).status?.phase]).toEqual([undefined, undefined])
  })

  test('is written to the newest version when another writer was faster', async () => {
    await create()
    let edits = 0
    bench.before = async ({ text }) => {
      if (text === statusPath && edits < 3)
        await bench.client.patch(Home, 'cosy', { metadata: { labels: { a: `${edits++}` } } })
    }
    await reporter()({ readyReplicas: 1 })
    const { status, metadata } = await get()
    expect([status?.readyReplicas, metadata.labels]).toEqual([1, { a: '2' }])
  })

  test('rejects with a conflict when other writers are always faster', async () => {
    await create()
    let edits = 0
    bench.before = async ({ text }) => {
      if (text === statusPath) await bench.client.patch(Home, 'cosy', { metadata: { labels: { a: `${edits++}` } } })
    }
    const failure = await reporter()({ readyReplicas: 1 }).catch((error: unknown) => error)
    expect([isConflict(failure), edits]).toEqual([true, 5])
  })

  test('of a kind without a status subresource is rejected, with the fix', async () => {
    await bench.client.create(ConfigMap({ metadata: { name: 'a' } }))
    const controller = defineController(ConfigMap, { reconcile: () => ({ status: {} as never }) })
    const failure = await bench
      .run(controller)('default/a')
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TerminalError)
    expect(String(failure)).toContain("give its definition a 'status', or return no 'status'")
  })

  test('keeps conditions of others when the list can only be replaced as a whole', async () => {
    const item = s.object({
      type: s.string(),
      status: s.string(),
      reason: s.string(),
      message: s.string(),
      lastTransitionTime: s.string(),
    })
    const Flat = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Flat',
      spec: s.object({}),
      status: s.object({ conditions: s.array(item, { listType: 'atomic' }) }),
    })
    await install(bench.client, Flat)
    await bench.client.create(Flat({ metadata: { name: 'a' }, spec: {} }))
    const other = {
      type: 'Other',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2020-01-01T00:00:00Z',
    }
    await bench.client.subresource(Flat, 'status').patch('a', { status: { conditions: [other] } })
    const conditions = [condition('Ready', true, 'Because')] as never
    await bench.run(defineController(Flat, { reconcile: () => ({ status: { conditions } }) }))('default/a')
    expect((await bench.client.get(Flat, 'a')).status?.conditions).toEqual([
      other,
      { type: 'Ready', status: 'True', reason: 'Because', message: '', lastTransitionTime: '2025-01-01T00:00:00Z' },
    ])
  })

  test('of a built-in kind sets only the fields that its conditions have', async () => {
    await bench.client.create(Node({ metadata: { name: 'n' } }))
    const conditions = [condition('Ready', true, 'KubeletReady') as never]
    await bench.run(defineController(Node, { reconcile: () => ({ status: { conditions } }) }))('n')
    expect((await bench.client.get(Node, 'n')).status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: '2025-01-01T00:00:00Z' },
    ])
  })
})
