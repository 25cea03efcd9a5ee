import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { podDisruptionBudgets } from './pod-disruption-budget.ts'

const { createErrors } = strategyHarness(podDisruptionBudgets)

const pdb = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'n' } }

describe('pod disruption budgets', () => {
  test('reject two bounds and percentages above 100', async () => {
    expect(await createErrors({ ...pdb, spec: { minAvailable: 1, maxUnavailable: '101%' } })).toEqual([
      'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"101%","UnhealthyPodEvictionPolicy":null}: ' +
        'minAvailable and maxUnavailable cannot be both set',
      'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ])
  })

  test('accept finalizers without a domain, in the status too', () => {
    expect(podDisruptionBudgets.strategy?.anyFinalizer).toBe(true)
    expect(podDisruptionBudgets.subresources?.['status']?.strategy?.anyFinalizer).toBe(true)
  })

  test('show a lower bound', () => {
    expect(cellsOf(podDisruptionBudgets, { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } })).toEqual(
      ['x', '50%', 'N/A', 1, '60m'],
    )
  })

  test('show an upper bound of zero', () => {
    expect(cellsOf(podDisruptionBudgets, { spec: { maxUnavailable: 0 } })).toEqual(['x', 'N/A', '0', 0, '60m'])
  })
})
