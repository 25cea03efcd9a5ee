import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { serviceAccounts } from './service-account.ts'

describe('service accounts', () => {
  test('show name and age', () => {
    expect(cellsOf(serviceAccounts)).toEqual(['x', '60m'])
  })
})
