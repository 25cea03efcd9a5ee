import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('conditions', () => {
  const at = (second: number): string => api.toTime(second * 1000)

  test('mergeConditions() changes lastTransitionTime only with the status', () => {
    const first = api.mergeConditions(undefined, [api.condition('Ready', false, 'Waiting')], {
      now: at(1),
      observedGeneration: 1,
    })
    const second = api.mergeConditions(first, [api.condition('Ready', false, 'Still', 'yes')], {
      now: at(2),
      observedGeneration: 2,
    })
    const third = api.mergeConditions(second, [api.condition('Ready', true, 'Done')], {
      now: at(3),
      observedGeneration: 2,
    })
    expect([...first, ...second, ...third]).toEqual([
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 1,
        lastTransitionTime: at(1),
        reason: 'Waiting',
        message: '',
      },
      {
        type: 'Ready',
        status: 'False',
        observedGeneration: 2,
        lastTransitionTime: at(1),
        reason: 'Still',
        message: 'yes',
      },
      { type: 'Ready', status: 'True', observedGeneration: 2, lastTransitionTime: at(3), reason: 'Done', message: '' },
    ])
    expect(
      api.mergeConditions(third, [api.condition('Ready', true, 'Done')], { now: at(9), observedGeneration: 2 }),
    ).toBe(third)
  })

  test('mergeConditions() keeps conditions of other types', () => {
    const options = { now: at(1) }
    const both = api.mergeConditions<string>(
      [],
      [api.condition('A', true, 'X'), api.condition('B', 'Unknown', 'Y')],
      options,
    )
    expect(both.map((c) => [c.type, c.status])).toEqual([
      ['A', 'True'],
      ['B', 'Unknown'],
    ])
    expect(api.removeCondition(both, 'A').map((c) => c.type)).toEqual(['B'])
    expect(api.removeCondition(both, 'C')).toBe(both)
    expect(api.isConditionTrue({ status: { conditions: both } }, 'A')).toBe(true)
    expect(api.isConditionFalse({ status: { conditions: both } }, 'C')).toBe(false)
    expect(api.isConditionTrue({}, 'A')).toBe(false)
  })
})
