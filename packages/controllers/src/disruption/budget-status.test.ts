import { toTime } from '@kubewright/api'
import type { Pod, PodDisruptionBudget } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { budgetStatus, dependsOnScale, failedStatus } from './budget-status.ts'

const now = Date.UTC(2025, 0, 1)
const at = (millis: number): string => toTime(now + millis)

// Contains only the fields that budgets read.
const pod = (name: string, ready = true, more: object = {}): Pod =>
  ({
    metadata: { name, ...more },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as unknown as Pod
const budget = (spec: object, status: object = {}): PodDisruptionBudget =>
  ({ metadata: { name: 'b', generation: 3 }, spec, status }) as unknown as PodDisruptionBudget
const pods = (count: number): Pod[] => Array.from({ length: count }, (_, at) => pod(`p${at}`))

describe('budgetStatus()', () => {
  test.each([
    [
      'minAvailable in numbers',
      { minAvailable: 2 },
      3,
      3,
      { desiredHealthy: 2, disruptionsAllowed: 1, expectedPods: 3 },
    ],
    ['minAvailable that is not reached', { minAvailable: 5 }, 3, 3, { desiredHealthy: 5, disruptionsAllowed: 0 }],
    [
      'minAvailable in percent, rounded up',
      { minAvailable: '50%' },
      3,
      3,
      { desiredHealthy: 2, disruptionsAllowed: 1 },
    ],
    ['maxUnavailable in numbers', { maxUnavailable: 1 }, 4, 5, { desiredHealthy: 4, disruptionsAllowed: 0 }],
    [
      'maxUnavailable in percent, rounded up',
      { maxUnavailable: '30%' },
      5,
      5,
      { desiredHealthy: 3, disruptionsAllowed: 2 },
    ],
    ['maxUnavailable beyond all', { maxUnavailable: 9 }, 2, 2, { desiredHealthy: 0, disruptionsAllowed: 2 }],
    ['no pods at all', { maxUnavailable: 1 }, 0, 0, { desiredHealthy: 0, disruptionsAllowed: 0 }],
  ])('%s', (_, spec, running, expectedScale, expected) => {
    const facts = { budget: budget(spec), pods: pods(running), expectedScale, now }
    expect(budgetStatus(facts).status).toMatchObject(expected)
  })

  test('counts only ready pods that are not being deleted as healthy', () => {
    const some = [pod('a'), pod('b', false), pod('c', true, { deletionTimestamp: at(0) })]
    const { status } = budgetStatus({ budget: budget({ minAvailable: 1 }), pods: some, expectedScale: undefined, now })
    expect(status).toMatchObject({ currentHealthy: 1, expectedPods: 3, disruptionsAllowed: 0, observedGeneration: 3 })
    expect(status.conditions).toEqual([
      {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'InsufficientPods',
        message: '',
        lastTransitionTime: at(0),
        observedGeneration: 3,
      },
    ])
  })

  test('ignores a pod whose eviction was allowed for two minutes', () => {
    const disruptedPods = { p0: at(-30_000), p1: at(-130_000), gone: at(0) }
    const facts = {
      budget: budget({ minAvailable: 1 }, { disruptedPods }),
      pods: pods(3),
      expectedScale: undefined,
      now,
    }
    const { status, notDeleted, recheckIn } = budgetStatus(facts)
    expect(status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1, disruptedPods: { p0: at(-30_000) } })
    expect(Object.keys(status.disruptedPods ?? {})).toEqual(['p0'])
    expect(notDeleted.map(({ metadata }) => metadata.name)).toEqual(['p1'])
    expect(recheckIn).toBe(90_001)
  })
})

test('dependsOnScale() returns whether the budget needs the scale of the owners of its pods', () => {
  expect(dependsOnScale(budget({ minAvailable: 2 }))).toBe(false)
  expect(dependsOnScale(budget({ minAvailable: '2%' }))).toBe(true)
  expect(dependsOnScale(budget({ maxUnavailable: 1 }))).toBe(true)
})

test('failedStatus() allows no disruptions and gives the reason', () => {
  const before = { currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, disruptionsAllowed: 2, observedGeneration: 2 }
  const status = failedStatus(budget({}, before), 'found no controllers for pod "p"', now)
  expect(status).toMatchObject({ ...before, disruptionsAllowed: 0 })
  expect(status.conditions).toMatchObject([
    { status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "p"', observedGeneration: 2 },
  ])
})
