import { describe, expect, test } from 'vitest'
import { type LimitFacts, limitReplicas, type ScalingHistory, withChange } from './limit-replicas.ts'

const now = 10_000_000
const none: ScalingHistory = { recommendations: [], changes: [] }
const limit = (facts: Partial<LimitFacts>) =>
  limitReplicas({ current: 3, desired: 3, min: 1, max: 10, behavior: undefined, history: none, now, ...facts })

describe('limitReplicas() without behavior', () => {
  test.each([
    [{ desired: 5 }, 5, 'DesiredWithinRange', false],
    [{ desired: 9 }, 6, 'ScaleUpLimit', true],
    [{ current: 1, desired: 9 }, 4, 'ScaleUpLimit', true],
    [{ current: 8, desired: 14 }, 10, 'TooManyReplicas', true],
    [{ desired: 0 }, 1, 'TooFewReplicas', true],
  ])('%j becomes %i (%s)', (facts, replicas, reason, status) => {
    const { limited, ...rest } = limit(facts)
    expect([rest.replicas, limited.reason, limited.status]).toEqual([replicas, reason, status])
    expect(rest.ableToScale.reason).toBe('ReadyForNewScale')
  })

  test('uses the highest recommendation of the last five minutes', () => {
    const history = {
      ...none,
      recommendations: [
        { at: now - 200_000, value: 5 },
        { at: now - 400_000, value: 9 },
      ],
    }
    const { replicas, ableToScale } = limit({ current: 6, desired: 2, history })
    expect([replicas, ableToScale.reason]).toEqual([5, 'ScaleDownStabilized'])
  })

  test('keeps recommendations for an hour', () => {
    const history = { ...none, recommendations: [{ at: now - 3_700_000, value: 5 }] }
    expect(limit({ desired: 4, history }).history.recommendations).toEqual([{ at: now, value: 4 }])
  })
})

describe('limitReplicas() with behavior', () => {
  const up = (scaleUp: object) => ({ scaleUp })
  const pods = (value: number, periodSeconds = 60) => ({ type: 'Pods', value, periodSeconds })
  const percent = (value: number, periodSeconds = 60) => ({ type: 'Percent', value, periodSeconds })

  test.each([
    ['the larger of two policies', up({ policies: [pods(1), percent(100)] }), 9, 6, 'ScaleUpLimit'],
    [
      'the smaller where asked for',
      up({ policies: [pods(1), percent(100)], selectPolicy: 'Min' }),
      9,
      4,
      'ScaleUpLimit',
    ],
    ['nothing where disabled', up({ selectPolicy: 'Disabled' }), 9, 3, 'ScaleUpLimit'],
    ['the defaults', {}, 30, 7, 'ScaleUpLimit'],
    ['the maximum first', up({ policies: [pods(100)] }), 30, 10, 'TooManyReplicas'],
    [
      'a policy for the way down',
      { scaleDown: { policies: [pods(1)], stabilizationWindowSeconds: 0 } },
      1,
      2,
      'ScaleDownLimit',
    ],
    [
      'percent of the way down',
      { scaleDown: { policies: [percent(50)], stabilizationWindowSeconds: 0 } },
      1,
      1,
      'DesiredWithinRange',
    ],
  ])('%s', (_, behavior, desired, replicas, reason) => {
    const result = limit({ behavior, desired })
    expect([result.replicas, result.limited.reason]).toEqual([replicas, reason])
  })

  test('a policy counts the replicas added within its period', () => {
    const behavior = up({ policies: [pods(2)] })
    const recent = withChange(none, 3, 5, now - 30_000)
    expect(limit({ behavior, current: 5, desired: 9, history: recent }).replicas).toBe(5)
    const earlier = withChange(none, 3, 5, now - 60_000)
    expect(limit({ behavior, current: 5, desired: 9, history: earlier }).replicas).toBe(7)
  })

  test('stabilization windows hold the current size in both directions', () => {
    const recommendations = [{ at: now - 10_000, value: 3 }]
    const history = { ...none, recommendations }
    const slowUp = up({ stabilizationWindowSeconds: 60 })
    const rising = limit({ behavior: slowUp, desired: 5, history })
    expect([rising.replicas, rising.ableToScale.reason]).toEqual([3, 'ScaleUpStabilized'])
    const falling = limit({ behavior: {}, desired: 1, history })
    expect([falling.replicas, falling.ableToScale.reason]).toEqual([3, 'ScaleDownStabilized'])
  })
})
