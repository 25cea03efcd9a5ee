import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { deviceClasses } from './device-class.ts'

describe('device classes', () => {
  test('show name and age', () => {
    expect(cellsOf(deviceClasses)).toEqual(['x', '60m'])
  })
})
