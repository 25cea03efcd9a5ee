import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { shownTemplate } from '../../../testdata/workload-object.ts'
import { replicaSets } from './replica-set.ts'

describe('replica sets', () => {
  test('show zero for missing counts and <none> for an empty selector', () => {
    expect(cellsOf(replicaSets, { spec: { replicas: 0, selector: {}, template: shownTemplate } })).toEqual([
      'x',
      0,
      0,
      0,
      '60m',
      'c1,c2',
      'i1,i2',
      '<none>',
    ])
  })
})
