import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { priorityLevelConfigurations } from './priority-level-configuration.ts'

const { createErrors, defaulted } = strategyHarness(priorityLevelConfigurations)

const level = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name: 'n' },
}

describe('priority level configurations', () => {
  test('reject a hand size above the number of queues', async () => {
    expect(
      await createErrors({
        ...level,
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: { queues: 4, handSize: 8 } } } },
      }),
    ).toEqual(['spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)'])
  })

  test('default the concurrency shares', () => {
    expect(defaulted({ ...level, spec: { type: 'Limited', limited: {} } })).toMatchObject({
      spec: { limited: { nominalConcurrencyShares: 30, lendablePercent: 0 } },
    })
  })

  test('show shares and queues', () => {
    expect(
      cellsOf(priorityLevelConfigurations, {
        spec: {
          type: 'Limited',
          limited: {
            nominalConcurrencyShares: 30,
            limitResponse: { queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } },
          },
        },
      }),
    ).toEqual(['x', 'Limited', 30, 64, 6, 50, '60m'])
  })

  test('show <none> for an exempt level', () => {
    expect(cellsOf(priorityLevelConfigurations, { spec: { type: 'Exempt' } })).toEqual([
      'x',
      'Exempt',
      '<none>',
      '<none>',
      '<none>',
      '<none>',
      '60m',
    ])
  })
})
