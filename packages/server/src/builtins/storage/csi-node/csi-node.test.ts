import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { csiNodes } from './csi-node.ts'

describe('CSI nodes', () => {
  test('show the number of drivers', () => {
    expect(cellsOf(csiNodes, { spec: { drivers: [{}, {}] } })).toEqual(['x', 2, '60m'])
  })
})
