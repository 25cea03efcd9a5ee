import { describe, expect, test } from 'vitest'
import { cellsOf } from '../../../testdata/strategy-harness.ts'
import { volumeAttributesClasses } from './volume-attributes-class.ts'

describe('volume attributes classes', () => {
  test('show the driver', () => {
    expect(cellsOf(volumeAttributesClasses, { driverName: 'd' })).toEqual(['x', 'd', '60m'])
  })
})
