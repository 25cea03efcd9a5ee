import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { ipAddresses } from './ip-address.ts'

describe('IP addresses', () => {
  test('show the parent, and an age without a column', () => {
    expect(
      cellsOf(ipAddresses, { spec: { parentRef: { group: '', resource: 'services', namespace: 'n', name: 's' } } }),
    ).toEqual(['x', 'services/n/s', '60m'])
  })
})
