import { describe, expect, test } from 'vitest'
import type { CountedCause } from '../queue/cause.ts'
import { HotLoopDetector } from './hot-loop-detector.ts'
import { forOwner } from './sources/key-mapping.ts'
import { kindSource } from './sources/kind-source.ts'
import { runController } from './testdata/run-controller.ts'
import { Deployment, Home, objectOf } from './testdata/test-parts.ts'

const home = 'example.com/v1 Home'
const update = (paths: readonly string[], more: Partial<CountedCause> = {}): CountedCause => {
  return { event: 'update', kind: home, object: 'ns/a', paths, count: 1, ...more }
}
const taken = (causes: readonly CountedCause[], key = 'ns/a') => ({ key, priority: 0, waited: 0, causes })

describe('HotLoopDetector', () => {
  test('reports the field that keeps changing, its object and its writers, once a minute', () => {
    const detector = new HotLoopDetector(home)
    const loops = Array.from({ length: 60 }, (_, i) =>
      detector.observe(taken([update(['status.lastSyncTime'], { by: ['operator'] })]), i * 100),
    )
    expect(loops.filter((loop) => loop !== undefined)).toEqual([
      { times: 20, within: 1900, field: 'status.lastSyncTime', of: `${home} ns/a`, writers: ['operator'] },
    ])
    expect(loops[19]).toBeDefined()
  })

  test('reports nothing when the spec of the object changes', () => {
    const detector = new HotLoopDetector(home)
    for (let i = 0; i < 100; i++) {
      const paths = i % 5 === 0 ? ['spec.replicas', 'metadata.generation'] : ['status.x']
      expect(detector.observe(taken([update(paths)]), i)).toBeUndefined()
    }
  })

  test('reports two writers that disagree about the spec of a child', () => {
    const detector = new HotLoopDetector(home, { times: 6, within: '10s' })
    const child = { kind: 'apps/v1 Deployment', object: 'ns/web' }
    const loops = Array.from({ length: 6 }, (_, i) =>
      detector.observe(
        taken([update(['spec.replicas', 'metadata.generation'], { ...child, by: [i % 2 ? 'hpa' : 'us'] })]),
        i,
      ),
    )
    expect(loops.at(-1)).toMatchObject({
      field: 'spec.replicas',
      of: 'apps/v1 Deployment ns/web',
      writers: ['hpa', 'us'],
    })
  })

  test('reports nothing for reconciles that are far apart, have other causes, or change different fields', () => {
    const detector = new HotLoopDetector(home)
    for (let i = 0; i < 100; i++) {
      expect(detector.observe(taken([update(['status.x'])], 'slow'), i * 4000)).toBeUndefined()
      expect(detector.observe(taken([{ event: 'requeue', count: 1 }], 'timer'), i * 10)).toBeUndefined()
      expect(detector.observe(taken([update([`status.f${i}`])], 'various'), i * 10)).toBeUndefined()
    }
  })

  test('counts a bounded number of keys, and still detects the hot one among them', () => {
    const detector = new HotLoopDetector(home)
    let found = 0
    for (let i = 0; i < 40_000; i++) {
      if (detector.observe(taken([update(['status.x'])], `cold${i}`), i / 10)) found++
      if (i % 100 === 0 && detector.observe(taken([update(['status.x'])], 'hot'), i / 10)) found++
    }
    expect(found).toBe(1)
  })

  test('reads no causes before half of the threshold is reached', () => {
    const detector = new HotLoopDetector(home)
    const lazy = {
      key: 'ns/a',
      priority: 0,
      waited: 0,
      get causes(): never {
        throw new Error('read too early')
      },
    }
    for (let i = 0; i < 10; i++) expect(detector.observe(lazy, i)).toBeUndefined()
    expect(() => detector.observe(lazy, 10)).toThrow('read too early')
  })
})

test('createControllerRunner() warns about the field that causes a hot loop, and counts it', async () => {
  const sources = [kindSource(Home), kindSource(Deployment, { map: forOwner(Home) })]
  await using running = runController(() => undefined, { sources })
  const { cluster, clock, log, metrics } = running.parts
  cluster.of(Home).sync()
  cluster.of(Deployment).sync()
  const owner = { apiVersion: 'example.com/v1', kind: 'Home', name: 'a', uid: 'uid-a', controller: true }
  for (let i = 1; i <= 25; i++) {
    const managedFields = [{ manager: 'busy-operator', time: String(i) }]
    const metadata = { ownerReferences: [owner], managedFields }
    cluster.of(Deployment).put(objectOf(Deployment, 'web', i, { metadata, status: { checkedAt: i } }))
    await clock.advance(100)
  }
  expect(running.records).toHaveLength(25)
  expect(metrics.of('kubewright_hot_loops_total')).toBe(1)
  expect(log.records.filter(({ message }) => message.includes('Hot loop'))).toMatchObject([
    {
      values: {
        controller: 'test',
        name: 'a',
        times: 20,
        within: '1.9s',
        field: 'status.checkedAt',
        of: 'apps/v1 Deployment ns/web',
        writtenBy: ['busy-operator'],
      },
    },
  ])
})
