import { describe, expect, test } from 'vitest'
import { strategyHarness } from '../../../testdata/strategy-harness.ts'
import { limitRanges } from './limit-range.ts'

const { createErrors, defaulted, prepared } = strategyHarness(limitRanges)

const limitRange = { apiVersion: 'v1', kind: 'LimitRange' }

describe('limit ranges', () => {
  test.each<[string, object, string[]]>([
    [
      'defaults for pods',
      { spec: { limits: [{ type: 'Pod', default: { cpu: '1' } }] } },
      ["spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"],
    ],
    [
      'claims without bounds',
      { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
      [
        'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
      ],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('default the limits and requests of containers from their bounds', () => {
    const limits = [{ type: 'Container', max: { cpu: '2' }, min: { memory: '1Mi' } }]
    expect(defaulted({ ...limitRange, spec: { limits } })['spec']).toMatchObject({
      limits: [{ default: { cpu: '2' }, defaultRequest: { cpu: '2', memory: '1Mi' } }],
    })
  })

  test('get a new UUID as name if there is none', () => {
    expect(prepared({ ...limitRange, spec: { limits: [{ type: 'Pod' }] } }).metadata.name).toBe('uid-1')
  })
})
