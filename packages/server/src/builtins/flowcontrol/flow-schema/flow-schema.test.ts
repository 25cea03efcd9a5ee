import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { flowSchemas } from './flow-schema.ts'

const { createErrors, defaulted } = strategyHarness(flowSchemas)

const flow = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name: 'n' } }

describe('flow schemas', () => {
  test('require a priority level, matching subjects and rules', async () => {
    expect(
      await createErrors({
        ...flow,
        spec: {
          priorityLevelConfiguration: { name: '' },
          rules: [{ subjects: [{ kind: 'User', group: { name: 'g' } }] }],
        },
      }),
    ).toEqual([
      'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
      "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
      'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty',
    ])
  })

  test('default the matching precedence', () => {
    expect(defaulted({ ...flow, spec: {} })).toMatchObject({ spec: { matchingPrecedence: 1000 } })
  })

  test('show the priority level and whether it is missing', () => {
    expect(
      cellsOf(flowSchemas, {
        spec: {
          priorityLevelConfiguration: { name: 'p' },
          matchingPrecedence: 100,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: { conditions: [{ type: 'Dangling', status: 'False' }] },
      }),
    ).toEqual(['x', 'p', 100, 'ByUser', '60m', 'False'])
  })

  test('require a domain in the names of finalizers', () => {
    expect(flowSchemas.strategy?.anyFinalizer).toBeUndefined()
  })
})
