import type { ReplicaSet } from '@kubewright/k8s'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deployment, replicaSet } from '../testdata/objects.ts'
import {
  isScalingEvent,
  planHistory,
  planProportional,
  planRecreate,
  planRolling,
  type ScaleStep,
} from './plan-rollout.ts'
import { rolloutLimits } from './rollout-limits.ts'

const sizes = (steps: readonly ScaleStep[]) =>
  Object.fromEntries(steps.map(({ set, replicas }) => [set.metadata.name, replicas]))
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate' as const,
  rollingUpdate: { maxSurge, maxUnavailable },
})

test.each([
  ['25%', '25%', 3, 1, 0],
  ['25%', '25%', 10, 3, 2],
  [0, '10%', 3, 0, 1],
  [1, 0, 3, 1, 0],
  ['100%', '100%', 2, 2, 2],
  [0, 5, 3, 0, 3],
])(
  'rolloutLimits() resolves surge %s and unavailability %s of %i',
  (surge, unavailable, replicas, maxSurge, maxUnavailable) => {
    expect(rolloutLimits(deployment({ replicas, strategy: rolling(surge, unavailable) }))).toEqual({
      maxSurge,
      maxUnavailable,
    })
  },
)

test('planRolling() grows the new set to the surge before it shrinks the old ones', () => {
  const subject = deployment({ replicas: 10, strategy: rolling(3, 2) })
  const old = replicaSet({ name: 'old', replicas: 10, available: 10 })
  expect(sizes(planRolling(subject, replicaSet({ name: 'new', replicas: 0 }), [old]))).toEqual({ new: 3 })
  expect(sizes(planRolling(subject, replicaSet({ name: 'new', replicas: 3 }), [old]))).toEqual({ old: 8 })
})

test('planRolling() removes unavailable old pods at once, from the oldest set first', () => {
  const subject = deployment({ replicas: 4, strategy: rolling(1, 1) })
  const broken = replicaSet({ name: 'broken', replicas: 2, available: 0, age: 50 })
  const good = replicaSet({ name: 'good', replicas: 3, available: 3, age: 100 })
  expect(sizes(planRolling(subject, replicaSet({ name: 'new', replicas: 0 }), [broken, good]))).toEqual({ broken: 0 })
})

test('planRolling() waits while the new pods are unavailable', () => {
  const subject = deployment({ replicas: 10, strategy: rolling(3, 2) })
  const old = replicaSet({ name: 'old', replicas: 8, available: 8 })
  expect(planRolling(subject, replicaSet({ name: 'new', replicas: 5, available: 0 }), [old])).toEqual([])
})

test('planRolling() shrinks a new set that is too large', () => {
  expect(sizes(planRolling(deployment({ replicas: 2 }), replicaSet({ name: 'new', replicas: 5 }), []))).toEqual({
    new: 2,
  })
})

test('planRolling() always completes and never exceeds its limits', () => {
  const share = fc.oneof(
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
  )
  const scenario = fc.record({
    replicas: fc.integer({ min: 1, max: 12 }),
    surge: share,
    unavailable: share,
    seed: fc.infiniteStream(fc.boolean()),
  })
  fc.assert(
    fc.property(scenario, ({ replicas, surge, unavailable, seed }) => {
      const subject = deployment({ replicas, strategy: rolling(surge, unavailable) })
      const { maxSurge, maxUnavailable } = rolloutLimits(subject)
      let sets: ReplicaSet[] = [
        replicaSet({ name: 'old', replicas, available: replicas, age: 100 }),
        replicaSet({ name: 'new', replicas: 0, image: 'new' }),
      ]
      const spec = (set: ReplicaSet) => set.spec.replicas ?? 0
      const available = (set: ReplicaSet) => set.status?.availableReplicas ?? 0
      for (let round = 0; round < 500; round++) {
        const [old, fresh] = sets as [ReplicaSet, ReplicaSet]
        if (spec(old) === 0 && available(fresh) === replicas) return
        const plan = new Map(planRolling(subject, fresh, [old]).map(({ set, replicas: size }) => [set, size]))
        // Sizes take effect immediately: removed pods are gone, and new pods become available later.
        sets = sets.map((set) => {
          const size = plan.get(set) ?? spec(set)
          const up = size > available(set) && seed.next().value ? available(set) + 1 : available(set)
          return {
            ...set,
            spec: { ...set.spec, replicas: size },
            status: { replicas: size, availableReplicas: Math.min(size, up) },
          }
        })
        expect(spec(sets[0]!) + spec(sets[1]!)).toBeLessThanOrEqual(replicas + maxSurge)
        expect(available(sets[0]!) + available(sets[1]!)).toBeGreaterThanOrEqual(replicas - maxUnavailable)
      }
      throw new Error('the roll-out did not complete')
    }),
  )
})

test('planRecreate() shrinks first, then waits for the old pods, then starts', () => {
  const subject = deployment({ replicas: 2, strategy: { type: 'Recreate' } })
  const old = replicaSet({ name: 'old', replicas: 2 })
  expect(planRecreate(subject, undefined, [old], true)).toEqual({ scale: [{ set: old, replicas: 0 }], mayStart: false })
  const empty = replicaSet({ name: 'old', replicas: 0 })
  expect(planRecreate(subject, undefined, [empty], true)).toEqual({ scale: [], mayStart: false })
  expect(planRecreate(subject, undefined, [empty], false)).toEqual({ scale: [], mayStart: true })
  const fresh = replicaSet({ name: 'new', replicas: 0 })
  expect(planRecreate(subject, fresh, [empty], false)).toEqual({ scale: [{ set: fresh, replicas: 2 }], mayStart: true })
})

const annotations = (desired: number, max: number) => ({
  'deployment.kubernetes.io/desired-replicas': String(desired),
  'deployment.kubernetes.io/max-replicas': String(max),
})

test('isScalingEvent() detects that the deployment was scaled', () => {
  const set = replicaSet({ replicas: 3, annotations: annotations(3, 4) })
  expect(isScalingEvent(deployment({ replicas: 3 }), [set])).toBe(false)
  expect(isScalingEvent(deployment({ replicas: 5 }), [set])).toBe(true)
  expect(
    isScalingEvent(deployment({ replicas: 5 }), [replicaSet({ replicas: 0, annotations: annotations(3, 4) })]),
  ).toBe(false)
})

test('planProportional() distributes a new size in proportion to the current sizes', () => {
  const subject = deployment({ replicas: 20, strategy: rolling(3, 2) })
  const old = replicaSet({ name: 'old', replicas: 8, available: 8, annotations: annotations(10, 13), age: 100 })
  const fresh = replicaSet({ name: 'new', replicas: 5, annotations: annotations(10, 13) })
  const plan = sizes(planProportional(subject, fresh, [old]))
  expect(plan).toEqual({ old: 14, new: 9 })
})

test('planProportional() scales the only active set, and scales all sets to zero for zero', () => {
  const only = replicaSet({ name: 'only', replicas: 3 })
  expect(
    sizes(planProportional(deployment({ replicas: 5 }), only, [replicaSet({ name: 'old', replicas: 0 })])),
  ).toEqual({ only: 5 })
  const sets = [replicaSet({ name: 'a', replicas: 2 }), replicaSet({ name: 'b', replicas: 3 })] as const
  expect(sizes(planProportional(deployment({ replicas: 0 }), sets[0], [sets[1]]))).toEqual({ a: 0, b: 0 })
})

test('planProportional() scales down the old sets when the new set is saturated', () => {
  const fresh = replicaSet({ name: 'new', replicas: 3, available: 3, annotations: annotations(3, 4) })
  expect(sizes(planProportional(deployment(), fresh, [replicaSet({ name: 'old', replicas: 1 })]))).toEqual({ old: 0 })
})

test('planHistory() selects the lowest revisions without pods beyond the limit', () => {
  const old = (revision: number, replicas = 0) =>
    replicaSet({
      name: `r${revision}`,
      replicas,
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
    })
  const names = (limit: number, ...sets: ReplicaSet[]) =>
    planHistory(deployment({ revisionHistoryLimit: limit }), sets).map(({ metadata }) => metadata.name)
  expect(names(2, old(4), old(1), old(3), old(2))).toEqual(['r1', 'r2'])
  expect(names(0, old(1, 2), old(2))).toEqual(['r2'])
  expect(names(2, old(1), old(2))).toEqual([])
})
