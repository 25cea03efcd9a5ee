import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { priorityClasses } from './priority-class.ts'

const { createErrors, defaulted, prepared, resourceFor } = strategyHarness(priorityClasses)

const priority = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'n' }, value: 1 }

describe('priority classes', () => {
  test('reject values above one billion', async () => {
    expect(await createErrors({ ...priority, value: 1_000_000_001 })).toEqual([
      'value: Forbidden: maximum allowed value of a user defined priority is 1000000000',
    ])
  })

  test('reject unknown names with the prefix system-', async () => {
    expect(await createErrors({ ...priority, metadata: { name: 'system-x' } })).toEqual([
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. " +
        'error: system-x is not a known system priority class',
    ])
  })

  test('default to preemption', () => {
    expect(defaulted(priority)).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority' })
  })

  test('reject the deletion of the two system classes', () => {
    const { beginDelete } = resourceFor('scheduling.k8s.io/v1', 'PriorityClass').strategy
    const system = prepared({ ...priority, metadata: { name: 'system-node-critical' } })
    expect(() => beginDelete!(system, 0)).toThrow(
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    )
    expect(beginDelete!(prepared(priority), 0)).toBe('continue')
  })

  test('show value and preemption policy', () => {
    expect(cellsOf(priorityClasses, { value: -5, preemptionPolicy: 'Never' })).toEqual(['x', -5, false, '60m', 'Never'])
  })

  test('require a domain in the names of finalizers', () => {
    expect(priorityClasses.strategy?.anyFinalizer).toBeUndefined()
  })
})
