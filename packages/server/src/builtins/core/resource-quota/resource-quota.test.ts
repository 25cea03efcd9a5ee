import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { resourceQuotas } from './resource-quota.ts'

const { createErrors } = strategyHarness(resourceQuotas)

describe('resource quotas', () => {
  test.each<[string, object, string[]]>([
    [
      'unknown resources',
      { spec: { hard: { nonsense: '1' } } },
      [
        'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
        'spec.hard[nonsense]: Invalid value: "nonsense": must be a standard resource for quota',
      ],
    ],
    [
      'fractions of counted resources',
      { spec: { hard: { pods: '1.5' } } },
      ['spec.hard[pods]: Invalid value: "1500m": must be an integer'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('show requests and limits', () => {
    expect(
      cellsOf(resourceQuotas, {
        status: {
          hard: { 'requests.cpu': '1', 'limits.cpu': '2', pods: '10', 'limits.memory': '1024Mi' },
          used: { 'requests.cpu': '500m', pods: '3' },
        },
      }),
    ).toEqual(['x', 'pods: 3/10, requests.cpu: 500m/1', 'limits.cpu: 0/2, limits.memory: 0/1Gi', '60m'])
  })
})
