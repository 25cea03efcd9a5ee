import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../testdata/strategy-harness.ts'
import { scaleTable } from './scale-table.ts'

describe('scaleTable', () => {
  test('shows desired and available replicas', () => {
    expect(cellsOf({ table: scaleTable }, { spec: { replicas: 3 }, status: { replicas: 2 } })).toEqual([
      'x',
      3,
      2,
      '60m',
    ])
  })
})
